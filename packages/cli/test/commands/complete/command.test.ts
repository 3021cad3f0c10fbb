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

describe('the words that may come next', () => {
  it('commands are offered, but none that is hidden', () => {
    expect(next('')).toEqual(['send', 'endpoints', 'help']);
    expect(next()).toEqual(['send', 'endpoints', 'help']);
    expect(next('se')).toEqual(['send']);
  });

  it('the commands of a command are offered', () => {
    expect(next('endpoints', 'l')).toEqual(['list']);
  });

  it('the options of the command and of the program are offered', () => {
    expect(next('send', '--')).toEqual(['--scheme', '--fault', '--file', '--exact', '--json', '--help']);
    expect(next('send', '--f')).toEqual(['--fault', '--file']);
    expect(next('-')).toEqual(['--json', '--help']);
  });

  it('an argument that is due offers its words', () => {
    expect(next('send', '')).toEqual(['one', 'other']);
    expect(next('send', 'ot')).toEqual(['other']);
    expect(next('send', 'one', '')).toEqual(['here']);
    expect(next('send', 'one', 'here', '')).toEqual([]);
    expect(next('--json', 'send', '--exact', '')).toEqual(['one', 'other']);
  });

  it('the values of the option in front are offered', () => {
    expect(next('send', '--scheme', '')).toEqual(['both', 'v2']);
    expect(next('send', '--scheme', 'v')).toEqual(['v2']);
    expect(next('send', '--file', '')).toEqual([]);
  });

  it('one value more is offered behind a comma', () => {
    expect(next('send', '--fault', 'slow,')).toEqual(['slow,slow', 'slow,stale']);
    expect(next('send', '--fault', 'slow,st')).toEqual(['slow,stale']);
  });

  it('the value of an option is no command, whatever it looks like', () => {
    expect(next('--unknown', 'send', '--scheme', 'endpoints', '')).toEqual(['one', 'other']);
    expect(next('send', '--file', '--scheme', '')).toEqual(['one', 'other']);
  });
});
