/**
 * For each case of the suite: what it says of an app that tells one thing wrongly, and which, so that there is nothing
 * that could be wrong unheard. The words for what is wrong are those of `lying-app.ts`.
 */
export const WRONG_ANSWERS: Readonly<
  Record<'handler' | 'middleware', Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
> = {
  handler: {
    'the answer says in JSON what became of a delivery': {
      'the content type must be that of JSON': ['answer 1 bare'],
      'the body must be that of the receiver': ['answer 1 reworded'],
    },
    'an event whose work fails is released, and its next attempt runs': {
      'the failure must be answered with 5xx': ['answer 1 200'],
      'what was thrown is not for the sender': ['answer 1 wordy'],
      'the next attempt must be accepted': ['answer 2 202'],
    },
    'a PermanentError of the handler ends the event': {
      'it must be acknowledged': ['answer 1 202'],
    },
    'a handler that misses the deadline is answered with 503, and its later result is recorded': {
      'it must say that it is late': ['answer 1 200', 'answer 1 reworded'],
      'the retry must be a duplicate': ['answer 2 202', 'answer 2 bare'],
    },
    'the work of a handler whose sender has left is finished and recorded': {
      'the retry must be a duplicate': ['answer 2 202', 'answer 2 bare'],
      'the receiver must decide handled': ['request 1 unasked'],
    },
  },
  middleware: {
    'the work receives the exact bytes that were sent': {
      'a signed delivery must be answered with 200': ['answer 1 202'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other'],
      'its work must be done once': ['request 1 unasked'],
    },
    'a body that is not UTF-8 is verified as it is': {
      'its signature must be valid, and its encoding be refused': ['answer 1 200', 'answer 1 reworded'],
    },
    'a byte order mark is verified as part of the body': {
      'the signature must be valid': ['answer 1 wordy'],
    },
    'a body that arrives in chunks, without a length and split within a character, is verified': {
      'it must be answered with 200': ['answer 1 202'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other', 'request 1 unasked'],
    },
    'an empty body is read as empty': {
      'its signature must be valid, and its body no JSON': ['answer 1 200', 'answer 1 reworded'],
    },
    'the body is parsed as JSON only after its signature is verified': {
      'what is signed and no JSON must be refused for that': ['answer 1 200', 'answer 1 reworded'],
      'one flipped bit must be refused for the signature': ['answer 2 200', 'answer 2 reworded'],
      'what is neither must be refused for the signature': ['answer 3 200', 'answer 3 reworded'],
    },
    'an event with a key such as __proto__ is accepted': {
      'it must be answered with 200': ['answer 1 202'],
    },
    'a body of 5 MiB is accepted, whatever the default limit of the framework is': {
      'it must be answered with 200': ['answer 1 202'],
    },
    'a body is accepted with any content type': {
      'as application/json; charset=utf-8 it must be answered with 200': ['answer 1 202'],
      'as application/json; charset=utf-16 it must be answered with 200': ['answer 2 202'],
      'as application/problem+json it must be answered with 200': ['answer 3 202'],
      'as text/plain it must be answered with 200': ['answer 4 202'],
      'as application/octet-stream it must be answered with 200': ['answer 5 202'],
      'as undefined it must be answered with 200': ['answer 6 202'],
    },
    'a body whose content length is over the limit is refused': {
      'one byte over the limit must be refused': ['answer 1 200', 'answer 1 reworded'],
      'a body as long as the limit must be accepted': ['answer 2 202'],
    },
    'a body that grows over the limit is refused': {
      'it must be refused for its size': ['answer 1 200', 'answer 1 reworded'],
    },
    'a delivery with a missing, wrong or old signature is refused, and nothing works on it': {
      'must be answered with 401 missing_signature': ['answer 1 200', 'answer 1 reworded'],
      'it must be JSON': ['answer 1 bare'],
      'a 401 must name a scheme': ['answer 1 schemeless'],
      'must be answered with 401 signature_mismatch': ['answer 2 200', 'answer 2 reworded'],
      'must be answered with 401 timestamp_too_old': ['answer 3 200', 'answer 3 reworded'],
      'must be answered with 401 legacy_not_accepted': ['answer 4 200', 'answer 4 reworded'],
      'must be answered with 401 malformed_signature': ['answer 5 200', 'answer 5 reworded'],
      'nothing may be done for them': ['request 1 unasked'],
    },
    'a body with a content encoding is refused': {
      'it must be refused for that': ['answer 1 200', 'answer 1 reworded'],
    },
    'a delivery with two signature headers is refused, also where they were joined into one': {
      'two must be refused': ['answer 1 200', 'answer 1 reworded'],
      'joined ones must be refused': ['answer 2 200', 'answer 2 reworded'],
    },
    'a method other than POST is answered 405, with the method that is allowed': {
      'GET must be refused': ['answer 1 200', 'answer 1 reworded'],
      'allow must say POST': ['answer 1 bare'],
      'PUT must be refused': ['answer 2 200', 'answer 2 reworded'],
      'DELETE must be refused': ['answer 3 200', 'answer 3 reworded'],
    },
    'the answer has the 2xx that the work asks for': {
      '200 must be answered': ['answer 1 202'],
      '202 must be answered': ['answer 2 200'],
      '204 must be answered': ['answer 3 200'],
      'nor the length of one': ['answer 3 long'],
      'a 204 must have no body': ['answer 3 wordy'],
    },
    'a delivery that was handled before is acknowledged, and does not run again': {
      'it must be acknowledged with 200': ['answer 2 202'],
      'its headers must say so': ['answer 2 bare'],
      'the receiver must decide handled': ['end 1 failed', 'end 1 unknown'],
      'the work must be done once': ['request 1 unasked'],
    },
    'an attempt that arrives while another one is in progress is answered 409': {
      'the second attempt must be refused': ['answer 1 200', 'answer 1 reworded'],
      'and when to retry': ['answer 1 bare'],
      'the first attempt must end well': ['answer 2 202'],
    },
    'an event whose work fails is released, and its next attempt runs': {
      'the failure must be answered with 5xx': ['answer 1 200', 'end 1 ok'],
      'the next attempt must be accepted': ['answer 2 202', 'end 1 unknown'],
      'the receiver must decide handled': ['end 2 failed', 'end 2 unknown'],
    },
    'a delivery is not acknowledged while the store is unavailable': {
      'it must say so': ['answer 1 200', 'answer 1 reworded'],
      'and when to retry': ['answer 1 bare'],
      'nothing may be done': ['request 1 unasked'],
    },
    'a body that other code has read is refused, unless its bytes are still available': {
      'it must be refused for that': ['answer 1 200', 'answer 1 reworded'],
      'the hint must say /before anything reads its body, .*request\\.clone\\(\\)/': ['hint 1 other'],
      'the hint must be one line': ['hint 1 lines'],
      'nothing may be done': ['request 1 unasked'],
    },
    'an unsigned delivery is refused as missing_signature, also where other code has read its body': {
      'it must be refused at once (middleware)': ['answer 1 200', 'answer 1 reworded'],
    },
    'the exact bytes that a parser has kept are accepted': {
      'it must be answered with 200': ['answer 1 202'],
      'and others must be refused': ['answer 2 200', 'answer 2 reworded'],
      'the bytes of the delivery must be those that were sent': ['work 1 longer', 'work 1 other', 'request 1 unasked'],
    },
    'no work runs for an upload that breaks off, and the app continues to receive': {
      'the next attempt must be accepted': ['answer 2 202'],
      'the work must be done once': ['request 1 unasked'],
    },
    'the route receives the verified delivery': {
      'event must be the one sent': ['work 1 event'],
      'scheme and secretIndex must be those of the valid signature': ['work 1 scheme', 'work 1 secret'],
      'signedAt must be the signed time': ['work 1 time'],
      'unsigned must be there': ['work 1 endpoint', 'work 1 attempt'],
      'the route must run once': ['request 1 unasked'],
    },
    'an event whose route answers other than 2xx is released, and that answer is unchanged': {
      'the 404 must be answered': ['answer 1 200', 'request 1 unasked'],
      'the next attempt must be accepted': ['answer 2 202', 'end 1 unknown'],
      'the 422 must be answered': ['answer 3 200'],
      'the 500 must be answered': ['answer 5 200'],
      'the 503 must be answered': ['answer 7 200'],
      'the receiver must decide failed': ['end 1 ok'],
      'and the route run again': ['request 2 unasked'],
    },
    'an event whose route answers any 2xx is completed': {
      'the 200 must be answered': ['answer 1 202'],
      'the next attempt must be a duplicate': ['answer 2 bare'],
      'the 201 must be answered': ['answer 3 200'],
      'the 202 must be answered': ['answer 5 200'],
      'the 204 must be answered': ['answer 7 200'],
      'the receiver must decide handled': ['end 1 failed', 'end 1 unknown'],
      'the route must run once': ['request 1 unasked'],
    },
    'a PermanentError of the route ends the event': {
      'it must be acknowledged': ['answer 1 202', 'end 1 unknown'],
      'the work must be tried once': ['request 1 unasked'],
    },
  },
};
