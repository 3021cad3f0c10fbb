// What a test has mounted under this id.
export const config = { api: { bodyParser: false } };

export default (req, res) => globalThis.mounted.get(req.query.id)(req, res);
