import { defineConfig } from 'tsup';
import { library } from './scripts/library.js';

export default defineConfig(library('.'));
