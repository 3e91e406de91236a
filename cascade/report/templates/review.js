"use strict";
// Keys stand for buttons and links: each names its keys in data-keys.
let left = false;
addEventListener("pageshow", () => { left = false; });
addEventListener("submit", (event) => { if (left) event.preventDefault(); left = true; });
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  for (const target of document.querySelectorAll("[data-keys]")) {
    if (!target.disabled && target.dataset.keys.split(" ").includes(event.key)) {
      event.preventDefault();
      target.click();
      return;
    }
  }
});
