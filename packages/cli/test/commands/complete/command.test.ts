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

describe('shell completion of a command line', () => {
  it('the names of commands are offered, without hidden ones', () => {
    expect(next('')).toEqual(['send', 'endpoints', 'help']);
    expect(next()).toEqual(['send', 'endpoints', 'help']);
    expect(next('se')).toEqual(['send']);
  });

  it('the subcommands of a command are offered', () => {
    expect(next('endpoints', 'l')).toEqual(['list']);
  });

  it('the options of the command and of the program are offered', () => {
    expect(next('send', '--')).toEqual(['--scheme', '--fault', '--file', '--exact', '--json', '--help']);
    expect(next('send', '--f')).toEqual(['--fault', '--file']);
    expect(next('-')).toEqual(['--json', '--help']);
  });

  it('the choices of the next argument are offered', () => {
    expect(next('send', '')).toEqual(['one', 'other']);
    expect(next('send', 'ot')).toEqual(['other']);
    expect(next('send', 'one', '')).toEqual(['here']);
    expect(next('send', 'one', 'here', '')).toEqual([]);
    expect(next('--json', 'send', '--exact', '')).toEqual(['one', 'other']);
  });

  it('the choices of an option are offered behind it', () => {
    expect(next('send', '--scheme', '')).toEqual(['both', 'v2']);
    expect(next('send', '--scheme', 'v')).toEqual(['v2']);
    expect(next('send', '--file', '')).toEqual([]);
  });

  it('behind a comma, one more value of a list is offered', () => {
    expect(next('send', '--fault', 'slow,')).toEqual(['slow,slow', 'slow,stale']);
    expect(next('send', '--fault', 'slow,st')).toEqual(['slow,stale']);
  });

  it('the value of an option is read neither as a command nor as an option', () => {
    expect(next('--unknown', 'send', '--scheme', 'endpoints', '')).toEqual(['one', 'other']);
    expect(next('send', '--file', '--scheme', '')).toEqual(['one', 'other']);
  });
});
