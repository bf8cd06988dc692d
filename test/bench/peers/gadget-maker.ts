interface GadgetText {
  readonly spec: { readonly revision: number; readonly ports: readonly unknown[] }
}

/**
 * What the reconciler under test does, for those who have no reconcilers: reads, compares, makes it so, tells the
 * status.
 */
export function createGadgetMaker(): (key: string, text: string) => { revision: number; openPorts: number } {
  const made = new Map<string, number>()
  return (key, text) => {
    const { spec } = JSON.parse(text) as GadgetText
    if (made.get(key) !== spec.revision) made.set(key, spec.revision)
    return { revision: spec.revision, openPorts: spec.ports.length }
  }
}
