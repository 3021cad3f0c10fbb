/**
 * For each case of the suite: what it says of an app that tells one thing wrongly, and which, so that there is nothing
 * that could be wrong unheard. The words for what is wrong are those of `lying-app.ts`.
 */
export const WRONG_ANSWERS: Readonly<
  Record<'handler' | 'middleware', Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
> = {
  handler: {
    'says in JSON what became of a delivery': {
      'the content type must be that of JSON': ['answer 1 bare'],
      'the body must be that of the receiver': ['answer 1 reworded'],
    },
    'gives an event back when its work fails, and takes it up again': {
      'the failure must be answered with 5xx': ['answer 1 200'],
      'what was thrown is not for the sender': ['answer 1 wordy'],
      'the next attempt must be taken': ['answer 2 202'],
    },
    'ends an event whose handler says that no retry helps': {
      'it must be acknowledged': ['answer 1 202'],
    },
    'answers at the deadline, and remembers what comes later': {
      'it must say that it is late': ['answer 1 200', 'answer 1 reworded'],
      'the retry must be a duplicate': ['answer 2 202', 'answer 2 bare'],
    },
    'finishes and remembers the work of a handler whose sender has left': {
      'the retry must be a duplicate': ['answer 2 202', 'answer 2 bare'],
      'the receiver must decide handled': ['request 1 unasked'],
    },
  },
  middleware: {
    'hands on the very bytes that were sent': {
      'a signed delivery must be answered with 200': ['answer 1 202'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other'],
      'its work must be done once': ['request 1 unasked'],
    },
    'verifies bytes that are not UTF-8 as they are': {
      'their signature must hold, and their encoding be refused': ['answer 1 200', 'answer 1 reworded'],
    },
    'verifies a byte order mark as part of the body': {
      'the signature must hold': ['answer 1 wordy'],
    },
    'puts a body together that comes in pieces, without a length and split within a character': {
      'it must be answered with 200': ['answer 1 202'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other', 'request 1 unasked'],
    },
    'takes an empty body for what it is': {
      'its signature must hold, and then it is no JSON': ['answer 1 200', 'answer 1 reworded'],
    },
    'reads JSON only after the signature, and then by itself': {
      'what is signed and no JSON must be refused for that': ['answer 1 200', 'answer 1 reworded'],
      'one flipped bit must be refused for the signature': ['answer 2 200', 'answer 2 reworded'],
      'what is neither must be refused for the signature': ['answer 3 200', 'answer 3 reworded'],
    },
    'takes an event with a key that parsers refuse who fear for their prototypes': {
      'it must be answered with 200': ['answer 1 202'],
    },
    'takes a body of 5 MiB, whatever the framework allows by itself': {
      'it must be answered with 200': ['answer 1 202'],
    },
    'takes a body whatever its content type says': {
      'as application/json; charset=utf-8 it must be answered with 200': ['answer 1 202'],
      'as application/json; charset=utf-16 it must be answered with 200': ['answer 2 202'],
      'as application/problem+json it must be answered with 200': ['answer 3 202'],
      'as text/plain it must be answered with 200': ['answer 4 202'],
      'as application/octet-stream it must be answered with 200': ['answer 5 202'],
      'as undefined it must be answered with 200': ['answer 6 202'],
    },
    'refuses a body that says it is over the limit of the receiver': {
      'one byte over the limit must be refused': ['answer 1 200', 'answer 1 reworded'],
      'a body as long as the limit must be taken': ['answer 2 202'],
    },
    'refuses a body that grows over the limit of the receiver': {
      'it must be refused for its size': ['answer 1 200', 'answer 1 reworded'],
    },
    'refuses what is not signed, or not any more, and works on none of it': {
      'must be answered with 401 missing_signature': ['answer 1 200', 'answer 1 reworded'],
      'it must be JSON': ['answer 1 bare'],
      'a 401 must name a scheme': ['answer 1 schemeless'],
      'must be answered with 401 signature_mismatch': ['answer 2 200', 'answer 2 reworded'],
      'must be answered with 401 timestamp_too_old': ['answer 3 200', 'answer 3 reworded'],
      'must be answered with 401 legacy_not_accepted': ['answer 4 200', 'answer 4 reworded'],
      'must be answered with 401 malformed_signature': ['answer 5 200', 'answer 5 reworded'],
      'nothing may be done for them': ['request 1 unasked'],
    },
    'refuses a body that says it is compressed': {
      'it must be refused for that': ['answer 1 200', 'answer 1 reworded'],
    },
    'refuses two signature headers, as two or as one that somebody has joined': {
      'two must be refused': ['answer 1 200', 'answer 1 reworded'],
      'joined ones must be refused': ['answer 2 200', 'answer 2 reworded'],
    },
    'answers other methods with 405, and names the right one': {
      'GET must be refused': ['answer 1 200', 'answer 1 reworded'],
      'allow must say POST': ['answer 1 bare'],
      'PUT must be refused': ['answer 2 200', 'answer 2 reworded'],
      'DELETE must be refused': ['answer 3 200', 'answer 3 reworded'],
    },
    'answers with the 2xx that the work asks for': {
      '200 must be answered': ['answer 1 202'],
      '202 must be answered': ['answer 2 200'],
      '204 must be answered': ['answer 3 200'],
      'nor the length of one': ['answer 3 long'],
      'a 204 must have no body': ['answer 3 wordy'],
    },
    'acknowledges what was done before, and does not do it again': {
      'it must be acknowledged with 200': ['answer 2 202'],
      'its headers must say so': ['answer 2 bare'],
      'the receiver must decide handled': ['end 1 failed', 'end 1 unknown'],
      'the work must be done once': ['request 1 unasked'],
    },
    'sends an attempt away while another one is at work': {
      'it must be told so': ['answer 1 200', 'answer 1 reworded'],
      'and when to come again': ['answer 1 bare'],
      'the first attempt must end well': ['answer 2 202'],
    },
    'gives an event back when its work fails, and takes it up again': {
      'the failure must be answered with 5xx': ['answer 1 200', 'end 1 ok'],
      'the next attempt must be taken': ['answer 2 202', 'end 1 unknown'],
      'the receiver must decide handled': ['end 2 failed', 'end 2 unknown'],
    },
    'acknowledges nothing while its store is away': {
      'it must say so': ['answer 1 200', 'answer 1 reworded'],
      'and when to come again': ['answer 1 bare'],
      'nothing may be done': ['request 1 unasked'],
    },
    'refuses a body that something else has read, or has its bytes all the same': {
      'it must be refused for that': ['answer 1 200', 'answer 1 reworded'],
      'the hint must say /before anything reads its body, .*request\\.clone\\(\\)/': ['hint 1 other'],
      'the hint must be one line': ['hint 1 lines'],
      'nothing may be done': ['request 1 unasked'],
    },
    'refuses a body that something else has read and that is not signed without looking further': {
      'it must be refused at once (middleware)': ['answer 1 200', 'answer 1 reworded'],
    },
    'takes the exact bytes that a parser has kept': {
      'it must be answered with 200': ['answer 1 202'],
      'and others must be refused': ['answer 2 200', 'answer 2 reworded'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other', 'request 1 unasked'],
    },
    'runs nothing for an upload that breaks off, and goes on': {
      'the next attempt must be taken': ['answer 2 202'],
      'the work must be done once': ['request 1 unasked'],
    },
    'leaves the claim to its lease when the sender leaves before the route has answered': {
      'nobody knows whether it was done: the next must wait': ['answer 2 200', 'answer 2 reworded'],
      'when the lease is over, the event must be taken up': ['answer 3 202'],
      'the receiver must decide failed': ['end 1 ok'],
      'the observer must be told what happened': ['end 1 failed'],
      'the receiver must decide handled': ['end 2 failed', 'end 2 unknown'],
    },
    'hands the route the delivery that was verified': {
      'event must be the one sent': ['work 1 event'],
      'scheme and secretIndex must be those that held': ['work 1 scheme', 'work 1 secret'],
      'signedAt must be the signed time': ['work 1 time'],
      'unsigned must be there': ['work 1 endpoint', 'work 1 attempt'],
      'the route must run once': ['request 1 unasked'],
    },
    'gives an event back when the route answers other than 2xx, and leaves that answer alone': {
      'the 404 must be answered': ['answer 1 200', 'request 1 unasked'],
      'the next attempt must be taken': ['answer 2 202', 'end 1 unknown'],
      'the 422 must be answered': ['answer 3 200'],
      'the 500 must be answered': ['answer 5 200'],
      'the 503 must be answered': ['answer 7 200'],
      'the receiver must decide failed': ['end 1 ok'],
      'and the route run again': ['request 2 unasked'],
    },
    'completes an event when the route answers 2xx, whichever it is': {
      'the 200 must be answered': ['answer 1 202'],
      'the next attempt must be a duplicate': ['answer 2 bare'],
      'the 201 must be answered': ['answer 3 200'],
      'the 202 must be answered': ['answer 5 200'],
      'the 204 must be answered': ['answer 7 200'],
      'the receiver must decide handled': ['end 1 failed', 'end 1 unknown'],
      'the route must run once': ['request 1 unasked'],
    },
    'ends an event whose route says that no retry helps': {
      'it must be acknowledged': ['answer 1 202', 'end 1 unknown'],
      'the work must be tried once': ['request 1 unasked'],
    },
  },
};
