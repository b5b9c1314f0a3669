// The theme is set before the first paint; a page's links and forms change its address and ask for new content.
(() => {
  const root = document.documentElement;
  const saved = localStorage.getItem("theme");
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;

  // The first content comes as plain HTML; the live page replaces it as soon as it stands.
  document.addEventListener("DOMContentLoaded", () => {
    const app = document.getElementById("app");
    const swap = () => {
      if (!app.querySelector(".page h1")) return;
      observer.disconnect();
      document.getElementById("first")?.remove();
    };
    const observer = new MutationObserver(swap);
    observer.observe(app, { childList: true, subtree: true });
    swap();
  });

  const follow = (url) => {
    // Enter in a field is a change and a submit: the address moves once.
    if (new URL(url, location.href).href === location.href) return;
    if (!window.socket?.connected) return location.assign(url);
    history.pushState(null, "", url);
    emitEvent("address", location.search);
  };
  const submit = (form) => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    follow(location.pathname + (fields.length ? "?" + new URLSearchParams(fields) : ""));
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) {
      const dark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      localStorage.setItem("theme", root.dataset.theme);
      return;
    }
    const link = event.target.closest("a[data-local]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    follow(link.href);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-local]")) return;
    event.preventDefault();
    submit(event.target);
  });
  document.addEventListener("change", (event) => {
    if (event.target.form?.matches("form[data-local]")) submit(event.target.form);
  });
  window.addEventListener("popstate", () => {
    if (window.socket?.connected) emitEvent("address", location.search);
    else location.reload();
  });
})();
