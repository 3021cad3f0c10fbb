// What is kept of a run of Stryker: which mutants survived and why, and a few figures for each room of the sources.

/** The room of a file: its first folder in the sources of its package, and what runs in a browser for itself. */
export function roomOf(file) {
  return /^packages\/cli\/src\/page\/front|^(?:packages\/[^/]+\/)?src(?:\/[^/]+(?=\/))?/.exec(file)?.[0];
}

/**
 * Why a survivor is no missing test, from the text of test/mutation/survivors.txt: `reasonFor(file, line)`, where a line
 * is known by its text.
 */
export function readReasons(text) {
  const reasons = new Map();
  let file = '';
  let lines = [];
  for (const line of text.split('\n').filter((line) => !/^(#|$)/.test(line))) {
    if (/^\S/.test(line)) file = line;
    else if (/^ {2}\S/.test(line)) lines.push(line);
    else {
      for (const code of lines) reasons.set(keyOf(file, code), line.trim());
      lines = [];
    }
  }
  return reasons;
}

const keyOf = (file, line) => `${file}: ${line.replaceAll(/\s+/g, ' ').trim()}`;

/** The survivors of a file of Stryker's report, and counts. What does not compile or is switched off does not count. */
export function figuresOf(file, { source, mutants }, reasons) {
  const lines = source.split('\n');
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  const survivors = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ location: { start, end }, replacement }) => {
      const text = lines[start.line - 1];
      const was = text.slice(start.column - 1, start.line === end.line ? end.column - 1 : undefined);
      const key = keyOf(file, text);
      return { line: start.line, was: short(was), becomes: short(replacement), key, why: reasons.get(key) };
    });
  survivors.sort((a, b) => a.line - b.line);
  return { file, mutants: killed + survivors.length, killed, survivors };
}

/** The figures of all rooms: new ones for those whose every file was measured, and the old ones for the others. */
export function summaryOf(measured, sources, before, measuredOn) {
  const names = [...new Set(sources.map(roomOf))].sort();
  const rooms = names.flatMap((room) => {
    const files = measured.filter(({ file }) => roomOf(file) === room);
    const isWhole = files.length === sources.filter((file) => roomOf(file) === room).length;
    if (!isWhole) return before.filter((old) => old.room === room);
    const [mutants, killed] = ['mutants', 'killed'].map((name) => files.reduce((sum, file) => sum + file[name], 0));
    const open = files.flatMap(({ survivors }) => survivors).filter(({ why }) => why === undefined).length;
    return [{ room, mutants, killed, score: scoreOf({ mutants, killed }), open, measuredOn }];
  });
  return { missing: names.filter((name) => !rooms.some(({ room }) => room === name)), rooms };
}

export const scoreOf = ({ mutants, killed }) => (mutants === 0 ? 100 : Math.floor((1000 * killed) / mutants) / 10);

function short(code) {
  const line = code.replaceAll(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
