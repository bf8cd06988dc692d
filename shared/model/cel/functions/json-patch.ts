import { spendText, type Functions } from '../overload.ts'

/** For expressions that make patches. */
export const jsonPatches: Functions = {
  'jsonpatch.escapeKey(string) string': ([key], meter) => {
    spendText(meter, key as string)
    return (key as string).replaceAll('~', '~0').replaceAll('/', '~1')
  },
}
