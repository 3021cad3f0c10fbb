// A test that ran on another runtime than it says would prove nothing.
const { RUNTIME = '', RUNTIME_VERSION } = process.env;
if (process.versions[RUNTIME] !== RUNTIME_VERSION) {
  throw new Error(`${RUNTIME} ${RUNTIME_VERSION} was wanted, this is ${JSON.stringify(process.versions)}`);
}
