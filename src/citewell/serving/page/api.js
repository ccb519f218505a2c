// Requests to the service. The key goes with each as a header; there are no cookies.

const KEY = "citewell-key";

// What the service says went wrong: what, and what to do.
export class Problem extends Error {
  constructor(message, remedy = "", status = 0, type = "") {
    super(message);
    this.remedy = remedy;
    this.status = status;
    this.type = type;
  }
}

export const key = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

let askForKey = async () => false;

// `ask` shows that a key is needed, and says whether there is one now.
export function whenKeyIsNeeded(ask) {
  askForKey = ask;
}

export const authorization = () => (key.get() ? { Authorization: `Bearer ${key.get()}` } : {});

// The response, when it is a good one.
export async function call(path, { method = "GET", body, accept = "application/json", signal } = {}) {
  for (;;) {
    const response = await fetched(path, {
      method,
      signal,
      headers: { ...authorization(), Accept: accept, ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
      credentials: "omit",
    });
    if (response.ok) return response;
    const problem = problemOf(response.status, await response.text(), response.headers.get("Retry-After"));
    if (response.status !== 401 || !(await askForKey(problem))) throw problem;
  }
}

export const json = async (path, options) => (await call(path, options)).json();

// `a=1&b=2` of what has a value; a list is repeated.
export function query(values) {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).filter((one) => one !== null && one !== undefined && one !== "").map((one) => [name, one]),
  );
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

export function problemOf(status, text, retryAfter) {
  let told = {};
  try {
    told = JSON.parse(text).error ?? {};
  } catch {
    // Something between us and the service has answered.
  }
  const remedy = retryAfter ? `${told.remedy ?? ""} It is worth another try in ${retryAfter} s.`.trim() : told.remedy;
  return new Problem(told.message ?? `The service answered ${status}.`, remedy ?? "", status, told.type ?? "");
}

async function fetched(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The service cannot be reached.", "See whether it runs, and whether you are connected.");
  }
}
