import { describe, expect, it } from 'vitest';
import { connectionProblem } from '../../src/http/connection-problem.js';

describe('the reason why no answer came', () => {
  it('a network error is explained by its code, or by its message alone', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    expect(connectionProblem(error)).toContain('nothing listens there');
    expect(connectionProblem('connect ECONNREFUSED 127.0.0.1:1')).toContain('nothing listens there');
  });

  it('an unknown error is shown as it is', () => {
    expect(connectionProblem('the answer came too late')).toBe('the answer came too late');
    expect(connectionProblem(new Error('odd'))).toBe('odd');
  });
});
