// The theme is set before the first paint; links and forms of a page change its address and ask for new content.
(() => {
  const root = document.documentElement;
  const saved = localStorage.getItem("theme");
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;

  const follow = (url) => {
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
