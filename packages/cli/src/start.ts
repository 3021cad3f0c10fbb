#!/usr/bin/env node
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

// Since Node 22.8.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (directory: string) => unknown };

// From the second start on, Node takes the compiled program from this folder. It is next to the program: an attacker who can
// write there could replace the program anyway.
enableCompileCache?.(fileURLToPath(new URL('compiled', import.meta.url)));
try {
  nodeModule.createRequire(import.meta.url)('./main.cjs');
} catch (error) {
  if (!/^Cannot find module 'service-webhooks['/]/.test(String((error as Error).message))) throw error;
  process.stderr.write(
    'service-webhooks: the package service-webhooks is not installed, and the command line needs it. Some installers leave peer dependencies out. Run: npm install service-webhooks\n',
  );
  process.exitCode = 70;
}
