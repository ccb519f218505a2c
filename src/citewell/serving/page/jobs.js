// Jobs of the service, which take longer than a request: followed to their end, or cancelled.

import { json } from "./api.js";

export const OVER = ["done", "failed", "cancelled", "interrupted"];
const LOOK_MS = 400;
const BUSY_MS = 4_000;

const pathOf = (id) => `v1/jobs/${encodeURIComponent(id)}`;

// How it stands, again and again, until it is over.
export async function* followed(id, signal) {
  for (;;) {
    const job = await unlessBusy(() => json(pathOf(id), { signal }));
    if (job) yield job;
    if (job && OVER.includes(job.state)) return;
    await new Promise((resolve) => setTimeout(resolve, job ? LOOK_MS : BUSY_MS));
  }
}

export const cancel = (id) => json(pathOf(id), { method: "DELETE" });

// Null where too much is asked of the service just now: what is waited for goes on.
export async function unlessBusy(ask) {
  try {
    return await ask();
  } catch (error) {
    if (error.status !== 429) throw error;
    return null;
  }
}
