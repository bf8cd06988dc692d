import type { PlantedBug } from './planted-bugs.ts'

const file = 'shared/engine/loops/garbage-collector.ts'
const part = 'tie'

/** What somebody could do wrong with owners: in circles, of several, and such as wait or let go. */
export const plantedInOwners: readonly PlantedBug[] = [
  {
    bug: 'a circle of owners is not seen',
    file,
    find: 'if (references.some((reference) => reference.uid === uid)) return true',
    replace: 'if (references.length < 0) return true',
    part,
  },
  {
    bug: 'each child of an owner that waits counts as one in a circle',
    file,
    find: 'const seen = new Set<string>()\n',
    replace: 'const seen = new Set<string>()\n    if (waiting.length > 0) return true\n',
    part,
  },
  {
    bug: 'a child goes with one of its owners though the other stays',
    file,
    find: 'if (owners.length > waiting.length) {',
    replace: 'if (owners.length > waiting.length + absent.length) {',
    part,
  },
  {
    bug: 'a child goes on to name an owner that is gone',
    file,
    find: '(!isDeleting(child) && gone.includes(one))',
    replace: '(!isDeleting(child) && gone.length > 100)',
    part,
  },
  {
    bug: 'an owner waits for a child that another owner keeps',
    file,
    find: 'const released = isDeleting(child) ? [] : waiting\n',
    replace: 'const released = waiting.slice(0, 0)\n',
    part,
  },
  {
    bug: 'an owner that lets its children go waits for a run of its own for ever',
    file,
    find: "if (how === 'orphan' && (object.metadata.finalizers ?? []).length > 1) return",
    replace: "if (how === 'orphan') return",
    part,
  },
  {
    bug: 'an owner is not told that a child blocks it no more',
    file,
    find: "if (!touches(touched, 'meta') || before === undefined) return []",
    replace: "if (touches(touched, 'meta') || before === undefined) return []",
    part,
  },
]
