/**
 * For each case of the suite: what it says about a store with one wrong answer, and which answers those are. The words
 * for a wrong answer are those of `lying-store.ts`.
 */
export const WRONG_ANSWERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'the first claim acquires a new key with attempt 1': {
    'a free key must be acquired': ['claim 1 held', 'claim 1 completed'],
    'a first claim has attempt 1': ['claim 1 attempt'],
    'a fence is a positive safe integer': ['claim 1 fence'],
  },
  'an answer to another token says that the key is in progress, and for how long at most': {
    'in_progress with 0 < retryAfterMs <= leaseMs': [
      'claim 2 acquired',
      'claim 2 completed',
      'claim 2 now',
      'claim 2 late',
    ],
    'in_progress has the fence of the owner': ['claim 2 fence'],
    'retryAfterMs is milliseconds': ['claim 2 half'],
  },
  'the same token gets its claim again, with a renewed lease': {
    'the same claim': ['claim 2 held', 'claim 2 completed', 'claim 2 fence', 'claim 2 attempt'],
    'a renewed lease': ['claim 4 acquired', 'claim 4 completed', 'claim 4 now', 'claim 4 half'],
  },
  'a completed key is answered completed to every token': {
    'completed, with its fence': ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'the owner completes': ['complete 1 lost'],
  },
  'an owner that completes twice is answered ok': {
    'complete may be sent again': ['complete 1 lost'],
  },
  'the next claim acquires a released key with a higher fence and attempt 2': {
    'a higher fence and attempt 2 after a release': ['claim 2 fence', 'claim 2 attempt'],
    'the owner releases': ['release 1 lost'],
  },
  'a release of a released or absent key is answered ok': {
    'nothing is left to release: ok': ['release 1 lost'],
  },
  'a completed row stays completed when it is released or extended afterwards': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
    'release and extend after complete: lost': ['extend 1 ok', 'release 1 ok'],
  },
  'an owner that has released its key does not complete or extend it': {
    'extend and complete after release: lost': ['extend 1 ok', 'complete 1 ok'],
  },
  'all three results have the fingerprint and the alias that came first': {
    'in_progress has what was seen first': [
      'claim 2 acquired',
      'claim 2 completed',
      'claim 2 fingerprint',
      'claim 2 alias',
    ],
    'acquired has what was seen first': ['claim 3 fingerprint', 'claim 3 alias'],
    'completed has what was seen first': ['claim 4 acquired', 'claim 4 held', 'claim 4 fingerprint', 'claim 4 alias'],
  },
  'no result has an alias where none came first': {
    in_progress: ['claim 2 acquired', 'claim 2 completed'],
    'an alias that was not there is undefined': ['claim 2 alias'],
  },
  'a token that does not own the row is answered lost, and nothing is written': {
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
  'keys that differ in case, in one byte, in a suffix or in special characters are different keys': {
    'a is a key of its own': ['claim 1 attempt'],
    'y is a key of its own': ['claim 19 attempt'],
    'a is in progress': ['claim 21 acquired', 'claim 21 completed'],
  },
  'tokens are compared byte for byte': {
    '"aaaa-token" is another token': ['claim 2 acquired'],
    '"AAAA-toke" is another token': ['claim 3 acquired'],
    '"AAAA-token " is another token': ['claim 4 acquired'],
    '"AAAA-token2" is another token': ['claim 5 acquired'],
  },
  'fingerprints, aliases and tokens that look like numbers or JSON are returned as they are': {
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
  'one event at two endpoints is two keys': {
    'the second endpoint has a row of its own': ['claim 2 attempt'],
  },
  'durations that are not positive integers are refused before anything is sent': {
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
    'the claim is still there after the refused calls': ['complete 8 lost'],
  },
  'exactly one of 32 simultaneous claims acquires a new key': {
    'exactly one acquires': ['claim 1 held', 'claim 1 completed', 'claim 2 acquired'],
    'in_progress for the others': ['claim 2 completed'],
  },
  'simultaneous claims of the same token are the same claim': {
    'all acquired, with one fence and attempt 1': [
      'claim 1 held',
      'claim 1 completed',
      'claim 2 fence',
      'claim 1 attempt',
    ],
  },
  'exactly one of 32 simultaneous claims acquires a key whose lease is over, with a higher fence': {
    'exactly one acquires': ['claim 3 held', 'claim 3 completed', 'claim 64 acquired'],
    'one higher fence for the new owner and all others': ['claim 3 fence'],
  },
  'exactly one of 32 simultaneous claims acquires a released key': {
    'exactly one acquires': ['claim 2 held', 'claim 2 completed', 'claim 3 acquired'],
    'one higher fence for the new owner and all others': ['claim 2 fence'],
  },
  'no claim acquires a key while its owner completes it': {
    'in_progress or completed, never acquired': ['claim 2 acquired'],
    'completed for a later claim': ['claim 6 acquired', 'claim 6 held'],
    'the owner completes': ['complete 1 lost'],
  },
  'a claim during a release is acquired or in_progress, and neither is lost': {
    'acquired or in_progress': ['claim 2 completed'],
    'then the rival acquires the key': ['claim 3 held', 'claim 3 completed', 'claim 3 fence'],
    'the owner releases': ['release 1 lost'],
  },
  'either the late complete or the takeover wins, never both': {
    'ok and completed, or lost and acquired': [
      'claim 3 acquired',
      'claim 3 held',
      'claim 5 completed',
      'complete 1 lost',
      'complete 2 ok',
    ],
    'the row agrees with the answers': ['claim 4 acquired', 'claim 4 held', 'claim 6 completed'],
  },
  'a complete is never undone by a release or a claim at the same time': {
    'released, so not completed': ['claim 3 completed', 'complete 2 lost', 'release 1 lost'],
    'completed stays completed': ['claim 5 acquired', 'claim 6 held', 'complete 1 ok'],
  },
  'either the late extend or the takeover wins, never both': {
    'ok and in_progress, or lost and acquired': [
      'claim 3 acquired',
      'claim 3 completed',
      'claim 4 held',
      'extend 1 lost',
      'extend 2 ok',
    ],
  },
  'claims that lost against a completed winner are answered completed': {
    'one winner, who completes': ['claim 1 held', 'claim 1 completed', 'claim 2 acquired'],
    'completed for all of them': ['claim 9 acquired', 'claim 9 held'],
  },
  'a silent owner keeps its key until the lease is over, and no longer': {
    'not before 200 ms': ['claim 2 acquired', 'claim 2 half and claim 3 acquired'],
    'acquired once the lease is over': ['claim 2 completed'],
    '0 < retryAfterMs <= leaseMs': ['claim 2 now', 'claim 2 late'],
    'a higher fence and attempt 2 after a takeover': ['claim 3 fence', 'claim 3 attempt'],
  },
  'a stale owner is answered lost after a takeover, and the new owner keeps the key': {
    'in_progress for the stale owner': ['claim 3 acquired', 'claim 3 completed', 'claim 3 fence', 'claim 3 now'],
    'extend, release and complete: lost': ['extend 1 ok', 'complete 1 ok', 'release 1 ok'],
    'the new owner completes': ['complete 2 lost'],
    '"alias":"first-alias"}': ['inspect 2 nothing', 'inspect 2 fence'],
  },
  'a key stays completed when a stale owner fails after the new one has completed': {
    'still completed by the second owner': ['claim 3 acquired', 'claim 3 held', 'claim 3 fence'],
    'release, complete and extend: lost': ['extend 1 ok', 'complete 2 ok', 'release 1 ok'],
  },
  'an owner completes after its lease when no other token has taken the key': {
    completed: ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'a late complete is ok': ['complete 1 lost'],
  },
  'an owner releases after its lease when no other token has taken the key': {
    'a higher fence and attempt 2 after a release': ['claim 2 fence', 'claim 2 attempt'],
    'a late release is ok': ['release 1 lost'],
  },
  'an owner that extends keeps its key, also after the lease, until another token takes it': {
    'the lease was extended': [
      'claim 2 acquired',
      'claim 2 held',
      'claim 2 completed',
      'claim 2 now',
      'claim 2 half',
      'claim 2 late',
    ],
    'extend after the lease is ok without a takeover': ['extend 1 lost'],
    'extend after a takeover is lost': ['extend 3 ok'],
  },
  'a row keeps its fence, its attempts and what was seen first when the lease is over': {
    'a higher fence and attempt 2': ['claim 2 fence', 'claim 2 attempt'],
    'what was seen first': ['claim 2 fingerprint'],
    'a higher fence and attempt 3': ['claim 3 fence', 'claim 3 attempt'],
    'a higher fence and attempt 4': ['claim 4 fence', 'claim 4 attempt'],
    'in progress or over': ['claim 5 completed', 'claim 5 now', 'claim 5 late'],
  },
  'a row that was lost before complete is created again as completed': {
    'completed, with the fence of its owner': ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'with the fingerprint of its owner': ['claim 2 fingerprint'],
    'with the alias of its owner': ['claim 2 alias'],
    'complete of a row that was lost: ok': ['complete 1 lost'],
  },
  'an owner whose row was lost is answered lost once another token has the key': {
    'lost for the stale owner and ok for the new one': [
      'extend 1 ok',
      'complete 1 ok',
      'complete 2 lost',
      'release 1 ok',
    ],
  },
  'an extend of a row that was lost is answered lost': {
    'and no row was created': ['claim 2 attempt'],
    'there is nothing to extend': ['extend 1 ok'],
  },
  'a key in progress is still in progress after the death of its owner': {
    'still in progress': ['claim 2 acquired', 'claim 2 completed', 'claim 2 fence', 'claim 2 now', 'claim 2 late'],
  },
  'a completed key is still completed after a death right after the answer': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
  },
  'a forgotten key is a new one': {
    'attempt 1': ['claim 2 attempt'],
  },
  'the fence of a key grows with each of ten owners': {
    'a free key must be acquired': ['claim 10 held'],
    'a higher fence than before': ['claim 2 fence', 'claim 10 fence'],
  },
  'the fence of a forgotten key grows': {
    'a free key must be acquired': ['claim 5 held'],
    'a new row: attempt 1': ['claim 5 attempt'],
    'a higher fence than before': ['claim 5 fence'],
  },
  'the fence of a key whose retention is over grows': {
    'a free key must be acquired': ['claim 5 held'],
    'a new row: attempt 1': ['claim 5 attempt'],
    'a higher fence than before': ['claim 5 fence'],
  },
  'the fence of a purged key grows': {
    'a free key must be acquired': ['claim 5 held'],
    'a new row: attempt 1': ['claim 5 attempt'],
    'a higher fence than before': ['claim 5 fence'],
  },
  'the fence of a key whose row was lost grows': {
    'a free key must be acquired': ['claim 5 held'],
    'a new row: attempt 1': ['claim 5 attempt'],
    'a higher fence than before': ['claim 5 fence'],
  },
  'the fence of a key grows over a death of every client': {
    'a higher fence than before': ['claim 2 fence'],
  },
  'a completed key is forgotten after the retention that complete asked for': {
    'a new row: attempt 1': ['claim 2 attempt'],
    'a new row: seen for the first time': ['claim 2 fingerprint'],
  },
  'a completed key is kept for the retention that complete asked for': {
    'still completed': ['claim 2 acquired', 'claim 2 held'],
    'the owner completes': ['complete 1 lost'],
  },
  'exactly one of 32 simultaneous claims acquires an expired row in any state': {
    'exactly one acquires': ['claim 97 acquired'],
    'in_progress for the others': ['claim 97 completed'],
  },
  'a row is kept for as long as the lease that extend gave it': {
    'still in progress': ['claim 2 acquired', 'claim 2 completed'],
    'the owner extends': ['extend 1 lost'],
  },
  'a claim of an expired row is a new one, also with the token of its last owner': {
    'a new row: attempt 1': ['claim 2 held', 'claim 2 completed', 'claim 2 attempt'],
  },
  'an expired row is absent for complete, release and extend': {
    completed: ['claim 2 acquired', 'claim 2 held', 'claim 2 fence'],
    'extend of an expired row: lost': ['extend 1 ok'],
    'complete of an expired row creates it again: ok': ['complete 1 lost'],
    'release of an expired row: ok': ['release 1 lost'],
  },
  'a row that complete has created again is forgotten after its retention': {
    'a new row: attempt 1': ['claim 2 attempt'],
    'complete of a row that was lost: ok': ['complete 1 lost'],
  },
  'a claim does not shorten the retention of a completed row': {
    'still completed': ['claim 3 acquired', 'claim 3 held'],
  },
  'each claim that acquires a row renews its retention': {
    'still in progress': ['claim 2 fence', 'claim 3 acquired', 'claim 3 completed'],
  },
  'a receiver whose clock is ahead does not acquire a key early': {
    'in_progress for a clock 600000 ms apart': ['claim 2 acquired', 'claim 2 completed'],
    'in_progress for a clock -600000 ms apart': ['claim 4 acquired', 'claim 4 completed'],
    'the owner still has it': ['extend 1 lost'],
  },
  'a receiver whose clock is behind acquires a key whose lease is over': {
    'acquired, with a higher fence': ['claim 2 held', 'claim 2 completed', 'claim 2 fence'],
  },
  'a claim is completed although the clock of the receiver was set meanwhile': {
    completed: ['claim 2 acquired', 'claim 2 held'],
    'complete after a step of 600000 ms': ['complete 1 lost'],
    'complete after a step of -600000 ms': ['complete 2 lost'],
  },
  'a store counts leases and retention in milliseconds': {
    'a lease of 2,500 ms': ['claim 2 acquired', 'claim 2 completed', 'claim 2 now', 'claim 2 soon', 'claim 2 late'],
    'a lease of 1 ms': ['claim 4 attempt'],
  },
  'a claim whose reply was lost is answered the same when another client sends it again': {
    '"alias":"first-alias"}}': ['claim 2 held', 'claim 2 fence', 'claim 2 alias'],
    'and no other token gets it': ['claim 3 acquired', 'claim 3 completed'],
  },
  'a complete whose reply was lost is answered ok when another client sends it again': {
    ok: ['complete 2 lost'],
  },
  'a store whose connections were cut recovers and still knows its claims': {
    'the claim is still there': ['claim 2 held', 'claim 2 completed', 'claim 2 fence'],
    'the owner completes': ['complete 1 lost'],
  },
  'the operator sees a row in each state': {
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
    'no lease': ['inspect 4 half-lease', 'inspect 4 long-lease'],
  },
  'the operator sees no expired row': {
    'an expired row is undefined': ['inspect 1 something'],
  },
  'a purge removes expired rows, no more than the limit, and nothing else': {
    'a row that lives keeps its attempts': ['claim 9 attempt'],
    'a completed row that lives stays completed': ['claim 11 acquired', 'claim 11 held'],
    'at most as many as the limit says': ['purgeExpired 1 more', 'purgeExpired 2 more'],
    'all that are expired': ['purgeExpired 1 none'],
  },
  'a report is kept as it came, in place of the last one of its receiver': {
    'no report of a new name': ['loadReports 1 more'],
    'the last one of each receiver': ['loadReports 2 none', 'loadReports 2 changed', 'loadReports 3 more'],
  },
  'a report is gone when its time is over, and a new one of its receiver is there again': {
    'only what is not over': ['loadReports 1 none', 'loadReports 1 more', 'loadReports 1 changed'],
    'both receivers again': ['loadReports 2 none', 'loadReports 2 more', 'loadReports 2 changed'],
  },
  'a report touches no event, and a purge removes no report whose time is not over': {
    'the report is still there': ['loadReports 1 none', 'loadReports 1 more'],
    'the owner completes': ['complete 1 lost'],
    completed: ['claim 2 acquired', 'claim 2 held'],
    'nothing but the report': ['loadReports 2 none', 'loadReports 2 more', 'loadReports 2 changed'],
  },
  'of more than 1,000 receivers of an endpoint, the newest 1,000 reports are returned': {
    '1,000 reports': ['loadReports 1 none', 'loadReports 1 more'],
    'the newest ones': ['loadReports 1 oldest'],
  },
};
