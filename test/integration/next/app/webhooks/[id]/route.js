// What a test has mounted under this id.
const receive = async (request, { params }) => globalThis.mounted.get((await params).id)(request);

export { receive as DELETE, receive as GET, receive as HEAD, receive as PATCH, receive as POST, receive as PUT };
