// The same behind the parser of Next, where somebody has forgotten the line that turns it off.
export default (req, res) => globalThis.mounted.get(req.query.id)(req, res);
