/** The text of a valid event, but for what is to be different about it. */
export function eventText(changes) {
  return JSON.stringify({
    id: 'evt_1',
    type: 'stt.completed',
    version: '2026-07-11',
    jobId: null,
    data: {},
    timestamp: '2026-07-11T00:00:00Z',
    ...changes,
  });
}
