"""Truth, comparison, tuning and explanation: algorithms on rows and pairs. Files are read and written by cascade.io."""
