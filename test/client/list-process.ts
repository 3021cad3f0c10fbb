import { createClient, endpointsIn } from '../../src/client/index.js';

/** What another process is asked to do: it lists the endpoints of an API and says how many there are. */
export interface Task {
  apiKey: string;
  baseUrl: string;
}

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const { data } = await createClient(task).webhooks.list();
process.send?.({ endpoints: endpointsIn(data).length });
process.disconnect();
