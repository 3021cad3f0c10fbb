import type { AdapterSuiteOptions, AppUnderTest, ServedApp } from 'service-webhooks-suites';

/** One way to put a receiver into a real app: the suite and the vectors run through each. */
export interface Mount<App extends ServedApp = ServedApp> extends AdapterSuiteOptions {
  /** The framework, its major version, and the form. */
  name: string;
  serve(app: AppUnderTest): App | Promise<App>;
}

export type Listening = { port: number; path?: string; http2?: boolean; close(): Promise<void> };

/** Both forms of one framework. */
export function bothForms<App extends ServedApp>(
  name: string,
  serve: Record<AdapterSuiteOptions['form'], Mount<App>['serve']>,
  rest: Pick<AdapterSuiteOptions, 'rawBodyFix' | 'without' | 'endings'>,
): Mount<App>[] {
  return (['handler', 'middleware'] as const).map((form) => ({
    name: `${name}, ${form}`,
    form,
    serve: serve[form],
    ...rest,
  }));
}
