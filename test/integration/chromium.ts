import { fileOf } from './file-of.js';

/** Debian's browser. */
export const chromium = fileOf('Chromium', 'apt-get install chromium', '/usr/bin/chromium');
