/** Acceptance tests that do not apply to the engine on AWS, by name, with the reason. */
export const elsewhere: Readonly<Partial<Record<string, string>>> = {
  'A1 a lost trigger that no other follows is made up for by the sweep':
    'the sweep repairs it after ten minutes, ahead of the resync that the test waits for: test/aws, "a change that the stream lost"',
  'J9 of both, the object is written first, then the status, in two writes':
    'a watch looks once a second there, and tells two writes of one moment as the last',
  'J19 the finalizer is there before the first run, by a write of its own':
    'a watch looks once a second there, and tells two writes of one moment as the last',
  "D26 a user's change goes ahead of the resync":
    'a FIFO queue has one lane: sweeps and fan-out are paced instead, so that there is no queue to jump',
  'D26 nothing starves: however many changes come, one delivery in ten is what waits behind them':
    "a FIFO queue has one lane, and no key waits behind another key's group",
  'D26 keeps the edits of users under 50 ms of queue wait meanwhile (p99): one worker, and more work than it can do':
    'ten thousand objects are too many for an emulated table on a virtual clock; no worker is waited for there, Lambda starts one',
  'D26 keeps the edits of users under 50 ms of queue wait meanwhile (p99): workers to spare':
    'ten thousand objects are too many for an emulated table on a virtual clock; no worker is waited for there, Lambda starts one',
  'D26 keeps the edits of users under 50 ms of queue wait meanwhile (p99): ten workers, and more work than they can do':
    'ten thousand objects are too many for an emulated table on a virtual clock; no worker is waited for there, Lambda starts one',
  'D26 keeps the edits of users under 50 ms of queue wait meanwhile (p99): runs that take long: one worker is kept free':
    'ten thousand objects are too many for an emulated table on a virtual clock; no worker is waited for there, Lambda starts one',
  'A23 D11 is never run twice at once, by triggers, timeouts and functions that ignore them':
    'a function that ignores its end ends with its process there: test/aws, "a reconcile that ignores its end"',
  'D32 A25 can write nothing any more, so that the one that took over has its effects alone':
    'a function that ignores its end ends with its process there',
  'everything comes to what was last asked for':
    'a hundred interleavings take longer than the test may: `npm run fleet` is their like there',
}
