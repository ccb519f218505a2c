// Light, dark, or as the system. Set before anything is drawn.

const CHOICE = "citewell-theme";
const CHOICES = ["system", "light", "dark"];
const NAMES = { system: "as the system", light: "light", dark: "dark" };

const chosen = () => (CHOICES.includes(localStorage.getItem(CHOICE)) ? localStorage.getItem(CHOICE) : "system");

document.documentElement.dataset.theme = chosen();

export function startTheme(button) {
  const told = () => button.setAttribute("aria-label", `Colours: ${NAMES[chosen()]}`);
  button.addEventListener("click", () => {
    const next = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length];
    localStorage.setItem(CHOICE, next);
    document.documentElement.dataset.theme = next;
    told();
  });
  told();
}
