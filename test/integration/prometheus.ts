import { fileOf } from './file-of.js';

const HOW = 'apt-get install prometheus';

/** Debian's Prometheus, and the program that checks its rules and metrics. */
export const prometheus = fileOf('Prometheus', HOW, '/usr/bin/prometheus');
export const promtool = fileOf('promtool', HOW, '/usr/bin/promtool');
