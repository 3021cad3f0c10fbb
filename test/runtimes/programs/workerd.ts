import { serveEndpoints } from './endpoints.js';

export default { fetch: serveEndpoints };
