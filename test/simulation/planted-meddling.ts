import type { PlantedBug } from './planted-bugs.ts'

const nextStatus = 'shared/engine/state/next-status.ts'
const deleteCollection = 'shared/api/verbs/delete-collection.ts'

/** What somebody could do wrong where people write statuses, sweep collections, and take finalizers away by hand. */
export const plantedInMeddling: readonly PlantedBug[] = [
  {
    bug: 'a run forgets the conditions of others',
    file: nextStatus,
    find: 'return patchConditions(conditionsOf(live), patches, facts)',
    replace: "return patchConditions(conditionsOf(live).filter(({ type }) => type === 'Ready'), patches, facts)",
    part: 'dub',
  },
  {
    bug: 'a generation that is yet to come is observed if somebody says so',
    file: nextStatus,
    find: "return typeof observed === 'number' && observed <= generation ? observed : 0",
    replace: "return typeof observed === 'number' && generation > 0 ? observed : 0",
    part: 'dub',
  },
  {
    bug: 'a collection is deleted whatever its selector says',
    file: deleteCollection,
    find: 'selection: selectionOf(call) }',
    replace: 'selection: { ...selectionOf(call), selector: undefined } }',
    part: 'sweep',
  },
  {
    bug: 'the first of a collection that is deleted stays',
    file: deleteCollection,
    find: 'for (const item of items) {',
    replace: 'for (const item of items.slice(1)) {',
    part: 'sweep',
  },
  {
    bug: 'an object that is being deleted stays when its last finalizer is taken away by hand',
    file: 'shared/resources/states.ts',
    find: 'return isDeleting(object) && (object.metadata.finalizers ?? []).length === 0',
    replace: 'return isDeleting(object) && object.metadata.finalizers?.length === 0',
    part: 'unleash',
  },
  {
    bug: 'nobody is woken whose finalizer is taken away',
    file: 'shared/model/stored-object.ts',
    find: "return touches(touched, 'spec', 'labels', 'annotations', 'control', 'meta', 'delete')",
    replace: "return touches(touched, 'spec', 'labels', 'annotations', 'control', 'delete')",
    part: 'unleash',
  },
]
