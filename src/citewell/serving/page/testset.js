// Test sets: a file of somebody's, or the questions of a run that is over.

import { Problem } from "./api.js";

// What a request takes of a file: a JSON object a line.
export async function questionsOf(file) {
  const lines = (await file.text()).split(/\r?\n/);
  const questions = lines.flatMap((line, at) => (line.trim() ? [parsed(line, at + 1, file.name)] : []));
  if (!questions.length) throw new Problem(`${file.name} holds no question.`, "Give a test set: a JSON object a line.");
  return questions.map((one, at) => ({ id: `line-${at + 1}`, ...one }));
}

// As the service takes names; what it does not take becomes a line.
export const nameOf = (file) => file.name.replace(/[^A-Za-z0-9_.-]+/g, "_").replace(/^[^A-Za-z0-9_]+/, "").slice(0, 200) || "questions.jsonl";

// Those that a run has asked, to be asked again.
export const askedIn = (result) =>
  result.questions.map((one) => ({
    id: one.id,
    question: one.question,
    answerable: one.answerable,
    expected_answer: one.expected_answer,
    must_contain: one.must_contain,
    must_not_contain: one.must_not_contain,
    evidence: one.evidence.map(({ rank: _, ...evidence }) => evidence),
    groups: one.groups,
    as_of: one.as_of,
    tags: one.labels,
  }));

function parsed(line, number, name) {
  let one = null;
  try {
    one = JSON.parse(line);
  } catch {
    // told below
  }
  if (one === null || typeof one !== "object" || Array.isArray(one)) throw new Problem(`${name}, line ${number}, is no question.`, "A test set has a JSON object a line.");
  return one;
}
