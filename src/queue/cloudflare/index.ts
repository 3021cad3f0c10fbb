export {
  type CloudflareBatch,
  type CloudflareMessage,
  type CloudflareProcessorOptions,
  cloudflareProcessor,
} from './cloudflare-processor.js';
export {
  type CloudflareQueueBinding,
  type CloudflareQueueOptions,
  cloudflareQueue,
} from './cloudflare-queue.js';
