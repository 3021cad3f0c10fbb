import { PAYLOAD_VERSION } from 'service-webhooks';

let count = 0;

/** A new event of that type, as the service would send it. */
export function newEvent(type, now) {
  count += 1;
  const id = String(count).padStart(2, '0');
  const jobId = type === 'trigger.failed' ? null : `job_demo_${id}`; // the one type without a job
  return {
    id: `evt_demo_${id}`,
    type,
    version: PAYLOAD_VERSION,
    jobId,
    // Of the other types the service's specification shows no fields, so none are made up.
    data: type === 'generation.completed' ? clip(jobId) : {},
    timestamp: new Date(now).toISOString(),
  };
}

function clip(clipId) {
  return { clipId, feature: 'text-to-speech', durationSec: 4.2, downloadUrl: `https://storage.example/${clipId}.wav` };
}
