/** The sixteen types, when each is sent, and what its jobId is: specification, section 6.4. */
export const eventTypes = [
  ['generation.completed', 'A text-to-speech, sound-effect or voice-changer clip can be downloaded.', 'the clip'],
  ['generation.failed', 'A generation failed after its retries; its credits are refunded.', 'the clip'],
  ['stt.completed', 'A transcription is finished.', 'the clip'],
  ['stt.failed', 'A transcription failed; its credits are refunded.', 'the clip'],
  ['export.completed', 'The export of a studio project, audio or video, is finished.', 'the studio project'],
  ['export.failed', 'The export of a studio project failed.', 'the studio project'],
  ['trigger.completed', 'Speech was made from a POST to an inbound trigger.', 'the clip'],
  ['trigger.failed', 'No speech could be made from a POST to an inbound trigger.', 'null'],
  ['dubbing.completed', 'The dubbing of a video is finished.', 'the dubbing job'],
  ['dubbing.failed', 'A dubbing job failed; its credits are refunded.', 'the dubbing job'],
  ['subtitle.completed', 'A subtitle job is finished.', 'the subtitle job'],
  ['subtitle.failed', 'A subtitle job failed; its credits are refunded.', 'the subtitle job'],
  ['voice_enhancement.completed', 'A voice enhancement that ran as a job is finished.', 'the clip'],
  ['voice_enhancement.failed', 'A voice enhancement failed; its credits are refunded.', 'the clip'],
  ['workflow_run.completed', 'A workflow run is finished.', 'the workflow run'],
  [
    'workflow_run.failed',
    'A workflow run failed; what its unfinished nodes reserved is settled or refunded.',
    'the workflow run',
  ],
].map(([type, fires, job]) => ({ type, fires, job }));
