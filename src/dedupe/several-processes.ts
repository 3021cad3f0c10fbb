interface NodeProcess {
  env?: Record<string, string | undefined>;
  getBuiltinModule?: (id: 'cluster') => { isWorker?: boolean } | undefined;
}

/** Returns the name of what runs this process next to others, or undefined where no such thing is known. */
export function severalProcesses(): string | undefined {
  const { env = {}, getBuiltinModule } = (globalThis as { process?: NodeProcess }).process ?? {};
  if (getBuiltinModule?.('cluster')?.isWorker) return 'cluster of Node';
  if (env['pm_id'] !== undefined) return 'PM2';
  if (env['AWS_LAMBDA_FUNCTION_NAME'] !== undefined) return 'AWS Lambda';
  return undefined;
}
