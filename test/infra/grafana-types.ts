import type { Dashboard as SchemaDashboard } from '@grafana/schema'
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen'
import type { Options as TextOptions } from '@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen'
import type { Options as SeriesOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'

/** As JSON has it: words in place of members of an enum. */
type Plain<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T

/** A dashboard as Grafana loads it. */
export type Dashboard = Plain<SchemaDashboard>

/** The options of each type of panel that our dashboard has. */
export interface PanelOptions {
  readonly stat: Partial<Plain<StatOptions>>
  readonly text: Partial<Plain<TextOptions>>
  readonly timeseries: Partial<Plain<SeriesOptions>>
}
