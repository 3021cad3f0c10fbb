import { describe, expect, it } from 'vitest';
import { connectionProblem } from '../../src/http/connection-problem.js';

describe('the reason why no answer came', () => {
  it('a network error is explained by its code, or by its message alone', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const known = { problem: 'nothing listens there', fix: 'Start the app, or correct the port.' };
    expect(connectionProblem(error)).toEqual(known);
    expect(connectionProblem('connect ECONNREFUSED 127.0.0.1:1')).toEqual(known);
    expect(connectionProblem('nothing listens there')).toEqual(known);
    expect(connectionProblem('socket hang up').problem).toBe('the connection was closed without an answer');
  });

  it('an unknown error is shown as it is', () => {
    const fix = 'Look into the log of the app.';
    expect(connectionProblem('the answer came too late')).toEqual({ problem: 'the answer came too late', fix });
    expect(connectionProblem(new Error('odd'))).toEqual({ problem: 'odd', fix });
  });
});
