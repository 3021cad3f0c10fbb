/**
 * For each case of the suite: what it says to a store of which one answer is wrong, and which answer, so that there is
 * none that could be wrong unheard. The words for what is wrong are those of `lying-store.ts`.
 */
export const WRONG_ANSWERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'acquires a new key with fence 1 and attempt 1': {
    'a free key must be acquired': ['claim 1 held', 'claim 1 completed'],
    'a first claim has fence 1 and attempt 1': ['claim 1 fence', 'claim 1 attempt'],
  },
  'tells another token that the key is in progress, and for how long at most': {
    'in_progress with 0 < retryAfterMs <= leaseMs': [
      'claim 2 acquired',
      'claim 2 completed',
      'claim 2 now',
      'claim 2 late',
    ],
    'in_progress names the fence of the owner': ['claim 2 fence'],
    'retryAfterMs is milliseconds': ['claim 2 half'],
  },
  'gives the same token its claim again and renews the lease': {
    'the same claim': ['claim 2 held', 'claim 2 completed', 'claim 2 fence', 'claim 2 attempt'],
    'a renewed lease': ['claim 4 acquired', 'claim 4 completed', 'claim 4 now', 'claim 4 half'],
  },
  'answers completed after complete, to every token': {
    'completed, with its fence': ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'the owner completes': ['complete 1 lost'],
  },
  'answers ok when its owner completes twice': {
    'complete may be sent again': ['complete 1 lost'],
  },
  'hands a released key to the next claim with fence 2 and attempt 2': {
    'fence 2 and attempt 2 after a release': ['claim 2 fence', 'claim 2 attempt'],
    'the owner releases': ['release 1 lost'],
  },
  'answers ok to a release of what is released or absent': {
    'nothing is left to release: ok': ['release 1 lost'],
  },
  'keeps a completed row completed when it is released or extended afterwards': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
    'release and extend after complete: lost': ['extend 1 ok', 'release 1 ok'],
  },
  'does not complete or extend what its owner has released': {
    'extend and complete after release: lost': ['extend 1 ok', 'complete 1 ok'],
  },
  'returns the fingerprint and the alias that came first in all three results': {
    'in_progress says what was seen first': [
      'claim 2 acquired',
      'claim 2 completed',
      'claim 2 fingerprint',
      'claim 2 alias',
    ],
    'acquired says what was seen first': ['claim 3 fingerprint', 'claim 3 alias'],
    'completed says what was seen first': ['claim 4 acquired', 'claim 4 held', 'claim 4 fingerprint', 'claim 4 alias'],
  },
  'says nothing about an alias where none came first': {
    in_progress: ['claim 2 acquired', 'claim 2 completed'],
    'an alias that was not there is undefined': ['claim 2 alias'],
  },
  'answers lost to a token that does not own the row, and writes nothing': {
    'still in progress, with the lease it had': [
      'claim 2 acquired',
      'claim 2 completed',
      'claim 2 now',
      'claim 2 late',
    ],
    'extend, release and complete of a stranger: lost': ['extend 1 ok', 'complete 1 ok', 'release 1 ok'],
    'the owner still owns it': ['complete 2 lost'],
    '"alias":"first-alias"}': ['inspect 2 nothing', 'inspect 2 fence'],
  },
  'keeps keys apart that differ in case, in one byte, in a suffix or in special characters': {
    'a is a key of its own': ['claim 1 fence', 'claim 1 attempt'],
    'y is a key of its own': ['claim 19 fence', 'claim 19 attempt'],
    'a is in progress': ['claim 21 acquired', 'claim 21 completed'],
  },
  'compares tokens byte for byte': {
    '"aaaa-token" is another token': ['claim 2 acquired'],
    '"AAAA-toke" is another token': ['claim 3 acquired'],
    '"AAAA-token " is another token': ['claim 4 acquired'],
    '"AAAA-token2" is another token': ['claim 5 acquired'],
  },
  'returns fingerprints, aliases and tokens that look like numbers or JSON as they are': {
    '"123" stays a text': ['claim 2 fingerprint', 'claim 2 alias'],
    '"123" stays the same token': ['claim 3 held'],
    '"1e5" stays a text': ['claim 5 fingerprint'],
    '"1e5" stays the same token': ['claim 6 held'],
    '"true" stays a text': ['claim 8 fingerprint'],
    '"true" stays the same token': ['claim 9 held'],
    '"null" stays a text': ['claim 11 fingerprint'],
    '"null" stays the same token': ['claim 12 held'],
    '"{"a":1}" stays a text': ['claim 14 fingerprint'],
    '"{"a":1}" stays the same token': ['claim 15 held'],
    '"007" stays a text': ['claim 17 fingerprint'],
    '"007" stays the same token': ['claim 18 held'],
  },
  'treats one event at two endpoints as two keys': {
    'the second endpoint has a row of its own': ['claim 2 fence'],
  },
  'refuses durations that are no positive integers, before it sends anything': {
    'claim with leaseMs 0 is refused': ['claim 2 acquired'],
    'claim with retainMs 0 is refused': ['claim 3 acquired'],
    'a refused claim left no trace': ['claim 4 attempt'],
    'claim with leaseMs -1 is refused': ['claim 5 acquired'],
    'claim with leaseMs NaN is refused': ['claim 8 acquired'],
    'claim with leaseMs Infinity is refused': ['claim 11 acquired'],
    'claim with leaseMs 1.5 is refused': ['claim 14 acquired'],
    'claim with leaseMs undefined is refused': ['claim 17 acquired'],
    'claim with leaseMs 5 is refused': ['claim 20 acquired'],
    'extend with leaseMs 0 is refused': ['extend 1 ok'],
    'complete with retainMs 0 is refused': ['complete 1 ok'],
    'the claim outlived what was refused': ['complete 8 lost'],
  },
  'gives a new key to exactly one of 32 simultaneous claims': {
    'exactly one acquires': ['claim 1 held', 'claim 1 completed', 'claim 2 acquired'],
    'the others hear in_progress': ['claim 2 completed'],
  },
  'gives simultaneous claims of the same token the same claim': {
    'all acquired, with fence 1 and attempt 1': [
      'claim 1 held',
      'claim 1 completed',
      'claim 1 fence',
      'claim 1 attempt',
    ],
  },
  'gives an expired lease to exactly one of 32 simultaneous claims, with the next fence': {
    'exactly one acquires': ['claim 3 held', 'claim 3 completed', 'claim 64 acquired'],
    'fence 2 for the new owner and all others': ['claim 3 fence'],
  },
  'gives a released key to exactly one of 32 simultaneous claims': {
    'exactly one acquires': ['claim 2 held', 'claim 2 completed', 'claim 3 acquired'],
    'fence 2 for the new owner and all others': ['claim 2 fence'],
  },
  'never gives a key away while its owner completes it': {
    'in_progress or completed, never acquired': ['claim 2 acquired'],
    'completed for who comes later': ['claim 6 acquired', 'claim 6 held'],
    'the owner completes': ['complete 1 lost'],
  },
  'answers a claim during a release with acquired or in_progress, and loses neither': {
    'acquired or in_progress': ['claim 2 completed'],
    'then the key is there for the rival': ['claim 3 held', 'claim 3 completed', 'claim 3 fence'],
    'the owner releases': ['release 1 lost'],
  },
  'lets either the late complete or the takeover win, never both': {
    'ok and completed, or lost and acquired': [
      'claim 3 acquired',
      'claim 3 held',
      'claim 5 completed',
      'complete 1 lost',
      'complete 2 ok',
    ],
    'the row agrees with the answers': ['claim 4 acquired', 'claim 4 held', 'claim 6 completed'],
  },
  'never undoes a complete, whoever releases and claims beside it': {
    'released, so not completed': ['claim 3 completed', 'complete 2 lost', 'release 1 lost'],
    'completed stays completed': ['claim 5 acquired', 'claim 6 held', 'complete 1 ok'],
  },
  'lets either the late extend or the takeover win, never both': {
    'ok and in_progress, or lost and acquired': [
      'claim 3 acquired',
      'claim 3 completed',
      'claim 4 held',
      'extend 1 lost',
      'extend 2 ok',
    ],
  },
  'tells those who lost against a completed winner that it is completed': {
    'one winner, who completes': ['claim 1 held', 'claim 1 completed', 'claim 2 acquired'],
    'completed for all of them': ['claim 9 acquired', 'claim 9 held'],
  },
  'holds the key of a silent owner until the lease is over, and not longer': {
    'not before 200 ms': ['claim 2 acquired', 'claim 2 half and claim 3 acquired'],
    'acquired once the lease is over': ['claim 2 completed'],
    '0 < retryAfterMs <= leaseMs': ['claim 2 now', 'claim 2 late'],
    'fence 2 and attempt 2 after a takeover': ['claim 3 fence', 'claim 3 attempt'],
  },
  'answers lost to a stale owner after a takeover, and leaves the new owner alone': {
    'the stale owner hears in_progress': ['claim 3 acquired', 'claim 3 completed', 'claim 3 fence', 'claim 3 now'],
    'extend, release and complete: lost': ['extend 1 ok', 'complete 1 ok', 'release 1 ok'],
    'the new owner completes': ['complete 2 lost'],
    '"alias":"first-alias"}': ['inspect 2 nothing', 'inspect 2 fence'],
  },
  'stays completed when a stale owner fails after the new one has completed': {
    'still completed by the second owner': ['claim 3 acquired', 'claim 3 held', 'claim 3 fence'],
    'release, complete and extend: lost': ['extend 1 ok', 'complete 2 ok', 'release 1 ok'],
  },
  'lets its owner complete after the lease when nobody took over': {
    completed: ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'a late complete is ok': ['complete 1 lost'],
  },
  'lets its owner release after the lease when nobody took over': {
    'fence 2 and attempt 2 after a release': ['claim 2 fence', 'claim 2 attempt'],
    'a late release is ok': ['release 1 lost'],
  },
  'keeps the key of an owner that extends, also after the lease, until somebody takes over': {
    'the lease was extended': [
      'claim 2 acquired',
      'claim 2 held',
      'claim 2 completed',
      'claim 2 now',
      'claim 2 half',
      'claim 2 late',
    ],
    'extend after the lease is ok when nobody took over': ['extend 1 lost'],
    'extend after a takeover is lost': ['extend 3 ok'],
  },
  'keeps the row when the lease is over: fence, attempt and what was seen first': {
    'fence and attempt 2': ['claim 2 fence', 'claim 2 attempt'],
    'what was seen first': ['claim 2 fingerprint'],
    'fence and attempt 3': ['claim 3 fence', 'claim 3 attempt'],
    'fence and attempt 4': ['claim 4 fence', 'claim 4 attempt'],
    'in progress or over': ['claim 5 completed', 'claim 5 now', 'claim 5 late'],
  },
  'makes a row again as completed when it is gone before complete': {
    'completed, with the fence of its owner': ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'with the fingerprint of its owner': ['claim 2 fingerprint'],
    'with the alias of its owner': ['claim 2 alias'],
    'complete of a row that is gone: ok': ['complete 1 lost'],
  },
  'tells two owners of the same fence apart after a row was lost': {
    'the token decides, not the fence': ['extend 1 ok', 'complete 1 ok', 'complete 2 lost', 'release 1 ok'],
  },
  'answers lost to an extend of a row that is gone': {
    'and nothing was made': ['claim 2 fence', 'claim 2 attempt'],
    'there is nothing to extend': ['extend 1 ok'],
  },
  'keeps what is in progress over a death of its owner': {
    'still in progress': ['claim 2 acquired', 'claim 2 completed', 'claim 2 fence', 'claim 2 now', 'claim 2 late'],
  },
  'keeps what is completed over a death right after the answer': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
  },
  'takes a forgotten key for a new one': {
    'attempt 1': ['claim 2 attempt'],
  },
  'forgets a completed key after its retention, counted from complete': {
    'a new row: attempt 1': ['claim 2 attempt'],
    'a new row: seen for the first time': ['claim 2 fingerprint'],
  },
  'keeps a completed key for the retention that complete asked for': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
    'the owner completes': ['complete 1 lost'],
  },
  'gives an expired row to exactly one of 32 simultaneous claims, whatever its state was': {
    'exactly one acquires': ['claim 97 acquired'],
    'the others hear in_progress': ['claim 97 completed'],
  },
  'keeps a row for as long as the lease that extend gave it': {
    'still in progress': ['claim 2 acquired', 'claim 2 completed'],
    'the owner extends': ['extend 1 lost'],
  },
  'takes a claim of an expired row for a new one, also where the token is that of its last owner': {
    'a new row: attempt 1': ['claim 2 held', 'claim 2 completed', 'claim 2 attempt'],
  },
  'takes an expired row for absent in complete, release and extend': {
    completed: ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'extend of an expired row: lost': ['extend 1 ok'],
    'complete of an expired row makes it again: ok': ['complete 1 lost'],
    'release of an expired row: ok': ['release 1 lost'],
  },
  'forgets a row that complete has made again, as it forgets any other': {
    'a new row: attempt 1': ['claim 2 attempt'],
    'complete of a row that is gone: ok': ['complete 1 lost'],
  },
  'does not shorten the life of a completed row by a claim': {
    'still completed': ['claim 3 acquired', 'claim 3 held'],
  },
  'renews the life of a row with every claim that acquires it': {
    'still in progress': ['claim 2 fence', 'claim 3 acquired', 'claim 3 completed'],
  },
  'does not hand a key over early to a receiver whose clock is ahead': {
    'in_progress for a clock 600000 ms apart': ['claim 2 acquired', 'claim 2 completed'],
    'in_progress for a clock -600000 ms apart': ['claim 4 acquired', 'claim 4 completed'],
    'the owner still has it': ['extend 1 lost'],
  },
  'hands a key over although the clock of the receiver is behind': {
    acquired: ['claim 2 held', 'claim 2 completed', 'claim 2 fence'],
  },
  'completes what was claimed before the clock of the receiver was set': {
    completed: ['claim 2 acquired', 'claim 2 held'],
    'complete after a step of 600000 ms': ['complete 1 lost'],
    'complete after a step of -600000 ms': ['complete 2 lost'],
  },
  'counts leases and retention in milliseconds': {
    'a lease of 2,500 ms': ['claim 2 acquired', 'claim 2 completed', 'claim 2 now', 'claim 2 soon', 'claim 2 late'],
    'a lease of 1 ms': ['claim 4 fence'],
  },
  'answers a claim that is sent again by another client, since its reply was lost, as the first time': {
    '"alias":"first-alias"}}': ['claim 2 held', 'claim 2 fence', 'claim 2 alias'],
    'and nobody else gets it': ['claim 3 acquired', 'claim 3 completed'],
  },
  'answers a complete that is sent again by another client, since its reply was lost, with ok': {
    ok: ['complete 2 lost'],
  },
  'works on after its connections were cut, and still knows its claims': {
    'the claim is still there': ['claim 2 held', 'claim 2 completed', 'claim 2 fence'],
    'the owner completes': ['complete 1 lost'],
  },
  'shows a row in each state to the operator': {
    'an absent row is undefined': ['inspect 1 something'],
    'a row in progress': [
      'inspect 2 nothing',
      'inspect 2 something',
      'inspect 2 completed',
      'inspect 2 released',
      'inspect 2 fence',
      'inspect 2 attempt',
    ],
    'what was seen first': ['inspect 2 fingerprint', 'inspect 2 alias'],
    'what is left of the lease': ['inspect 2 no-lease', 'inspect 2 half-lease', 'inspect 2 long-lease'],
    'what is left of the retention': ['inspect 2 half-life', 'inspect 2 long-life', 'inspect 4 half-life'],
    'a released row': ['inspect 3 nothing', 'inspect 3 completed', 'inspect 3 fence'],
    'a completed row': ['inspect 4 nothing', 'inspect 4 something', 'inspect 4 released', 'inspect 4 attempt'],
    'there is no lease any more': ['inspect 4 half-lease', 'inspect 4 long-lease'],
  },
  'shows no expired row to the operator': {
    'an expired row is undefined': ['inspect 1 something'],
  },
  'purges expired rows, no more than the limit at a time, and nothing else': {
    'a row that lives keeps its fence': ['claim 9 fence'],
    'a completed row that lives stays completed': ['claim 11 acquired', 'claim 11 held'],
    'at most as many as the limit says': ['purgeExpired 1 more', 'purgeExpired 2 more'],
    'all that are expired': ['purgeExpired 1 none'],
  },
};
