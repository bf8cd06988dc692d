import { wheelSlots, type Slots } from '../../model/wheel.ts'

/**
 * Goes over the slots of the wheel from one on, until enough keys were seen, or all; gives where it stands then. Few
 * keys lie on many slots and many on few: the slices grow while there is little on them, so that each costs about the
 * same.
 */
export async function goRound(
  fromSlot: number,
  visit: (slots: Slots) => Promise<number>,
  isEnough: (seen: number) => boolean,
): Promise<number> {
  let from = fromSlot
  let width = 1
  for (let seen = 0; from < wheelSlots && !isEnough(seen);) {
    const to = Math.min(wheelSlots, from + width)
    const found = await visit({ from, to })
    if (found < few) width *= 2
    seen += found
    from = to
  }
  return from
}

const few = 50
