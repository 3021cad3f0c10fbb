/** How each package manager installs, and with which option for packages of the development alone. */
const MANAGERS = {
  npm: ['npm install', '-D'],
  pnpm: ['pnpm add', '-D'],
  yarn: ['yarn add', '-D'],
  bun: ['bun add', '-d'],
};

/** Gives each block of a page that is nothing but `npm install` a tab for every package manager, in place of their names. */
export function installTabs(page) {
  const withoutNames = page.replace(
    / with npm, or with `pnpm add`,\s`yarn add` or `bun add`(?=:\n\n```sh\nnpm install)/g,
    '',
  );
  return withoutNames.replace(/^```sh\n((?:npm install .+\n)+)```$/gm, (_, commands) => {
    const tabs = Object.entries(MANAGERS).map(([name, [install, dev]]) => {
      const lines = commands.replaceAll(/^npm install/gm, install).replaceAll(' -D ', ` ${dev} `);
      return `\`\`\`sh [${name}]\n${lines}\`\`\``;
    });
    return `::: code-group\n\n${tabs.join('\n\n')}\n\n:::`;
  });
}
