import type { PlantedBug } from '../planted-bugs.ts'

const feed = 'shared/adapters/aws/dynamodb/dynamodb-change-feed.ts'
const recordings = 'shared/adapters/aws/dynamodb/dynamodb-recordings.ts'

/** What somebody could do wrong with watches on AWS, where clocks number the writes. */
export const plantedInWatches: readonly PlantedBug[] = [
  {
    bug: 'a reader of the feed begins where it is told, and not before',
    file: feed,
    find: 'return Math.min(version, versionAt(nowMs)) - versionAt(lookBackMs)',
    replace: 'return Math.min(version, versionAt(nowMs))',
    part: 'watch',
  },
  {
    bug: 'a look of the feed begins where the last one ended',
    file: feed,
    find: 'versionAt(nowMs - lookBackMs - lateMs))',
    replace: 'versionAt(nowMs))',
    part: 'watch',
  },
  {
    bug: 'a look of the feed forgets what it has told',
    file: feed,
    find: '    told.set(place(item), versionIn(item))\n',
    replace: '',
    part: 'watch',
  },
  {
    bug: 'a batch says that it got further than its look',
    file: feed,
    find: 'yield { changes, resourceVersion: String(versionAt(nowMs)) }',
    // A client that comes back further ahead than three seconds lists again.
    replace: 'yield { changes, resourceVersion: String(versionAt(nowMs + 2_900)) }',
    part: 'watch',
  },
  {
    bug: 'the index is trusted before all who write know that the kind is recorded',
    file: recordings,
    find: 'known.untilMs > knownMs ? known.sureMs : Math.max(knownMs, bornMs + earlierMs)',
    replace: 'known.untilMs > knownMs || bornMs < 0 ? known.sureMs : nowMs',
    part: 'watch',
  },
  {
    bug: 'a watch that comes back is told what the present read before',
    file: 'shared/api/watch/past.ts',
    find: 'if (version > liveAt - reachBack)',
    replace: 'if (version > liveAt)',
    part: 'watch',
  },
]
