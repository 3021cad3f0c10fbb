import type { FoundEnd } from 'service-webhooks/jobs';
import type { Call } from './calls.js';
import type { ServiceApi, SubmittedJob } from './contract.js';
import { outsideOfProcesses, type SimulatedProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import { ofTenant } from './tenants.js';

/** A job of the service that a process has submitted. */
export interface ServiceJob extends SubmittedJob {
  /** What its event is about: the job of its tenant. */
  readonly subject: string;
  readonly process: SimulatedProcess;
  /** Whether a process expects the job; undefined while it is not known, and for good where it never will be. */
  isExpected?: boolean;
  expectedAt?: number;
  /** What the service answers about the job; undefined while it runs. */
  end?: FoundEnd;
}

/** The service, as far as processes call it. */
export interface ServiceModel {
  /** The jobs, by their subjects. */
  readonly jobs: ReadonlyMap<string, ServiceJob>;
  /** Whether processes submit jobs. */
  readonly isUsed: boolean;
  /** Returns the service as a process sees it. */
  seenBy(process: SimulatedProcess): ServiceApi;
  /** Lets a process submit a job. Returns undefined where no process does, or events of the type have no job. */
  submit(type: string, jobId: string, tenant: string | undefined): ServiceJob | undefined;
  /** Takes it for unknown whether the jobs are expected that were recorded in the last milliseconds. */
  forgetExpectations(lastMs: number): void;
}

export interface ServiceParts {
  elapsed: () => number;
  random: Random;
  story: Story;
  call: Call;
  /** Whether a process that is killed forgets the jobs that it expects. */
  forgetsJobs: boolean;
}

export function createService({ elapsed, random, story, call, forgetsJobs }: ServiceParts): ServiceModel {
  const submitters = new Map<SimulatedProcess, (job: SubmittedJob) => unknown>();
  const jobs = new Map<string, ServiceJob>();
  let isUsed = false;

  const notExpected = (job: ServiceJob) => {
    job.isExpected = false;
  };

  async function expect(job: ServiceJob, submitted: (job: SubmittedJob) => unknown): Promise<void> {
    const { jobId, types, tenant, subject, process } = job;
    try {
      await submitted({ jobId, types, tenant });
      job.isExpected ??= true;
      job.expectedAt = elapsed();
      if (forgetsJobs) process.onKilled(() => notExpected(job));
    } catch {
      notExpected(job);
    }
    story.tell(process.name, `${job.isExpected ? 'expects' : 'may not expect'} ${story.nameOf(subject)}`);
  }

  return {
    jobs,
    get isUsed() {
      return isUsed;
    },
    seenBy: (process) => ({
      onSubmitted(submitted) {
        isUsed = true;
        submitters.set(process, submitted);
        process.onKilled(() => submitters.delete(process));
      },
      fetchJob: ({ jobId, tenant }) => call('service.fetchJob', () => jobs.get(ofTenant(tenant, jobId))?.end),
    }),
    submit(type, jobId, tenant) {
      const [first, ...others] = submitters.keys();
      if (first === undefined || type === 'trigger.failed') return undefined;
      const process = random.pick([first, ...others]);
      const submitted = submitters.get(process) as (job: SubmittedJob) => unknown;
      const subject = ofTenant(tenant, jobId);
      const job: ServiceJob = { jobId, types: typesOf(type), tenant, subject, process };
      jobs.set(subject, job);
      story.tell(process.name, `has submitted ${story.nameOf(subject)}`);
      outsideOfProcesses(() => process.resume(() => void expect(job, submitted)));
      return job;
    },
    forgetExpectations(lastMs) {
      for (const job of jobs.values()) {
        if (job.expectedAt === undefined || job.expectedAt >= elapsed() - lastMs) notExpected(job);
      }
    },
  };
}

/** Returns the types that end a job whose event has this type. */
function typesOf(type: string): readonly string[] {
  const kind = type.replace(/\.(completed|failed)$/, '');
  return kind === type ? [type] : [`${kind}.completed`, `${kind}.failed`];
}
