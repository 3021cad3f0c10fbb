import { Argument, Command, Option } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { completions } from '../../../src/commands/complete/command.js';
import { listOption } from '../../../src/options.js';

const program = new Command('program').option('--json', 'JSON').helpCommand('help [command]');
program.addCommand(
  new Command('send')
    .addArgument(new Argument('<type>', 'which').choices(['one', 'other']))
    .addArgument(new Argument('[target]', 'where').choices(['here']))
    .addOption(new Option('--scheme <scheme>', 'which').choices(['both', 'v2']))
    .addOption(listOption('--fault <names>', 'which', ['slow', 'stale']))
    .option('--file <path>', 'a file')
    .option('--exact', 'as it is'),
);
program.addCommand(new Command('endpoints').addCommand(new Command('list')).addCommand(new Command('delete')));
program.addCommand(new Command('complete'), { hidden: true });

const next = (...words: string[]) => completions(program as never, words);

describe('what may come next', () => {
  it('what may come next is a command, but none that is hidden', () => {
    expect(next('')).toEqual(['send', 'endpoints', 'help']);
    expect(next()).toEqual(['send', 'endpoints', 'help']);
    expect(next('se')).toEqual(['send']);
  });

  it('what may come next is a command of a command', () => {
    expect(next('endpoints', 'l')).toEqual(['list']);
  });

  it('what may come next is an option, of the command and of the program', () => {
    expect(next('send', '--')).toEqual(['--scheme', '--fault', '--file', '--exact', '--json', '--help']);
    expect(next('send', '--f')).toEqual(['--fault', '--file']);
    expect(next('-')).toEqual(['--json', '--help']);
  });

  it('what may come next is a word of the argument that is due', () => {
    expect(next('send', '')).toEqual(['one', 'other']);
    expect(next('send', 'ot')).toEqual(['other']);
    expect(next('send', 'one', '')).toEqual(['here']);
    expect(next('send', 'one', 'here', '')).toEqual([]);
    expect(next('--json', 'send', '--exact', '')).toEqual(['one', 'other']);
  });

  it('what may come next is a value of the option before it', () => {
    expect(next('send', '--scheme', '')).toEqual(['both', 'v2']);
    expect(next('send', '--scheme', 'v')).toEqual(['v2']);
    expect(next('send', '--file', '')).toEqual([]);
  });

  it('what may come next is one value more behind a comma', () => {
    expect(next('send', '--fault', 'slow,')).toEqual(['slow,slow', 'slow,stale']);
    expect(next('send', '--fault', 'slow,st')).toEqual(['slow,stale']);
  });

  it('what may come next is not changed by the value of an option, whatever it looks like', () => {
    expect(next('--unknown', 'send', '--scheme', 'endpoints', '')).toEqual(['one', 'other']);
    expect(next('send', '--file', '--scheme', '')).toEqual(['one', 'other']);
  });
});
