import { expect, vi } from 'vitest';

/**
 * Makes attempts at an event until one is acknowledged, as the service does, and resolves to all answers. Fails with the last answer
 * after five minutes, so that a test that gets no other one says which it got.
 */
export async function untilAcknowledged(attempt: () => Promise<string>): Promise<string[]> {
  const answers: string[] = [];
  const next = async () => {
    const answer = await attempt();
    answers.push(answer);
    expect(answer).toMatch(/^2/);
  };
  await vi.waitFor(next, { timeout: 300_000 });
  return answers;
}
