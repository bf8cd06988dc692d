/** Acceptance tests that do not apply to the engine on AWS, by how their names begin, with the reason. */
const reasons: Readonly<Record<string, string>> = {
  'A1 a relay that lost its place': place(),
  'A1 and begins again if the process ends before all are': place(),
  'A1 and has found its place when all are': place(),
  "D26 a user's change goes ahead of the resync": lanes(),
  'D26 nothing starves': lanes(),
  'D26 wakes them over time, behind the edits of users, and warns': lanes(),
  'D26 keeps the edits of users under 50 ms of queue wait': lanes(),
  'A3 the object is read when its run begins': twoAtOnce(),
  'A4 many triggers while a key waits are one run': twoAtOnce(),
  'A24 D11 run side by side, 1 at once': twoAtOnce(),
  'A27 a long run delays no other key': twoAtOnce(),
  'of a child that comes while the run goes on runs': unasked(),
  'of a child that comes while the wait is written': unasked(),
  'between the write of the wait and its beginning keeps the time, and the repeated run': inHand(),
  'repeats the turn of the wheel that was not over': inHand(),
  'is caught up with after a downtime': inHand(),
  'runs nothing that is not due':
    'a sweep is paced there, so that what is due at one time runs over some: test/unit/runtime/aws, resync',
  'with a controller that was not there before looks at the objects there are':
    'the look at all objects and the timer of an object that nobody has run are two messages there, and two runs',
  'J30 the next object of the name runs, though the process ends while a last run goes on': overrun(),
  'A23 D11 is never run twice at once, by triggers, timeouts and functions that ignore them': overrun(),
  'D32 A25 can write nothing any more, so that the one that took over has its effects alone': overrun(),
  'A25 D32 two deployed versions on one queue':
    'a start stands for a crash there, and hands back what was in hand; two environments on one queue: test/aws, A23 D11 and D32 A25',
  'B5 D32 has each effect once though the same trigger is delivered twice':
    'the trigger that is sent twice has one id there and is one message; messages that come twice: test/aws, B5 D32',
  'B16 does not keep other keys waiting':
    'in which order keys are handed out is for SQS to say; none waits for the group of another: test/aws, B16',
  'is not forgotten with the process':
    'it is not, but the probe may be five minutes late where its timer has come ahead of time: SQS takes an id once in five minutes',
  'few objects run at once, each once': slices(),
  'many come a little at a time, and all of them': slices(),
  'the next slice waits for the one before': slices(),
  'with a new controller looks at many objects a little at a time': slices(),
  'D16 are there at 0': gauges(),
  'D16 time runs, and say what runs now': gauges(),
  'D16 tell a queue that grows': gauges(),
  'D16 time from a change to its observation, over failures and a crash': gauges(),
  'everything comes to what was last asked for':
    'a hundred interleavings take longer there than the test may; `npm run fleet` is their like',
}

/** Why a test does not apply; undefined if it does. */
export function elsewhere(name: string): string | undefined {
  return Object.entries(reasons).find(([beginning]) => name.startsWith(beginning))?.[1]
}

/** Of the full names of tests that do apply. */
export function applies(): RegExp {
  const beginnings = Object.keys(reasons).map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^(?!.*(${beginnings.join('|')}))`)
}

function slices(): string {
  return 'what was missed is made up for in slices of five minutes by the tick: test/unit/runtime/aws, resync'
}

function place(): string {
  return 'functions keep no place in a feed; what the stream lost is found by the timer of the change: test/aws, "a change that the stream lost"'
}

function unasked(): string {
  return 'SQS cannot tell whether something waits in a group, so that it waits for the end of a short wait (decision 12): test/aws, acceptance-queue'
}

function twoAtOnce(): string {
  return 'a function runs two batches at least at once, and a batch is as long as its slowest run: test/aws, acceptance-queue'
}

function lanes(): string {
  return 'a FIFO queue has one lane: sweeps and fan-out are paced instead, so that there is no queue to jump: test/aws, D26'
}

function inHand(): string {
  return 'what a process had in hand comes again after its visibility timeout there: test/aws, acceptance-queue'
}

function overrun(): string {
  return 'a function that ignores its end ends with its process there: test/aws, A23 D11 and D32 A25'
}

function gauges(): string {
  return 'what one process knows at a moment means nothing among many: SQS and Lambda count it there'
}
