import { after } from 'next/server';

// What a test has mounted under this id. It gets `after` too, which works only in the copy of Next that serves.
const receive = async (request, { params }) => globalThis.mounted.get((await params).id)(request, after);

export { receive as DELETE, receive as GET, receive as HEAD, receive as PATCH, receive as POST, receive as PUT };
