import { defineConfig } from 'tsup';
import { libraryBuild } from '../../scripts/library-build.js';

export default defineConfig(libraryBuild('packages/suites'));
