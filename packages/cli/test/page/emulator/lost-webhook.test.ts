import { describe, expect, it } from 'vitest';
import { askedJob, howToFind } from '../../../src/page/emulator/lost-webhook.js';

describe('howToFind', () => {
  it.each([
    ['dubbing.completed', 'dub_1', 'which asks the API: GET /v1/dubbing/jobs/dub_1'],
    ['subtitle.failed', 'a/b', 'which asks the API: GET /v1/dubbing/jobs/a%2Fb'],
    ['workflow_run.completed', 'run_1', 'which asks the API: GET /v1/workflows/{id}/runs/run_1'],
    ['stt.completed', 'stt_1', 'with a fetch of its own: the service documents no route for stt.completed.'],
    ['trigger.failed', null, 'The event has no job that the app could ask for.'],
  ])('says of a lost %s with the job %s: %s', (type, jobId, says) => {
    expect(howToFind({ type, jobId })).toContain(says);
  });
});

describe('askedJob', () => {
  it.each([
    ['GET', '/v1/dubbing/jobs/dub_1', 'dub_1'],
    ['GET', '/v1/dubbing/jobs/a%2Fb', 'a/b'],
    ['GET', '/v1/dubbing/jobs/%', '%'],
    ['GET', '/v1/workflows/wf_1/runs/run_1', 'run_1'],
    ['POST', '/v1/dubbing/jobs/dub_1', undefined],
    ['GET', '/v1/dubbing/jobs', undefined],
    ['GET', '/v1/dubbing/jobs/dub_1/more', undefined],
    ['GET', '/api/v1/usage', undefined],
  ])('finds in %s %s the job %s', (method, path, job) => {
    expect(askedJob(method, path)).toBe(job);
  });
});
