/** The sixteen types, when each is sent, and what its jobId refers to (specification, section 6.4). */
export const eventTypes = [
  ['generation.completed', 'A text-to-speech, sound-effect or voice-changer clip can be downloaded.', 'clip'],
  ['generation.failed', 'A generation failed after its retries; its credits are refunded.', 'clip'],
  ['stt.completed', 'A transcription finished.', 'clip'],
  ['stt.failed', 'A transcription failed; its credits are refunded.', 'clip'],
  ['export.completed', 'The audio or video export of a studio project finished.', 'studio project'],
  ['export.failed', 'The export of a studio project failed.', 'studio project'],
  ['trigger.completed', 'A POST to an inbound trigger synthesized speech.', 'clip'],
  ['trigger.failed', 'A POST to an inbound trigger could not be synthesized.', null],
  ['dubbing.completed', 'A video dubbing job finished.', 'dubbing job'],
  ['dubbing.failed', 'A dubbing job failed; its credits are refunded.', 'dubbing job'],
  ['subtitle.completed', 'A subtitle job finished.', 'subtitle job'],
  ['subtitle.failed', 'A subtitle job failed; its credits are refunded.', 'subtitle job'],
  ['voice_enhancement.completed', 'An asynchronous voice enhancement finished.', 'clip'],
  ['voice_enhancement.failed', 'A voice enhancement failed; its credits are refunded.', 'clip'],
  ['workflow_run.completed', 'A workflow run finished.', 'workflow run'],
  [
    'workflow_run.failed',
    'A workflow run failed; the credits reserved for its unfinished nodes are settled or refunded.',
    'workflow run',
  ],
].map(([type, fires, job]) => ({ type, fires, job }));
