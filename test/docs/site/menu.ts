/** The menu of the site: by section, what a page is called there and where it is. */
export const menu: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Learn: {
    Start: 'README.md',
    Tutorial: 'docs/tutorial.md',
    Guide: 'docs/guide.md',
    Recipes: 'docs/recipes.md',
    Examples: 'examples/README.md',
    Glossary: 'docs/glossary.md',
  },
  'Look up': {
    Reference: 'docs/reference.md',
    Functions: 'docs/generated/functions.md',
    Kinds: 'docs/generated/kinds.md',
    Commands: 'docs/generated/commands.md',
    Metrics: 'docs/generated/metrics.md',
    Troubleshooting: 'docs/troubleshooting.md',
    Changelog: 'CHANGELOG.md',
  },
  Run: {
    Production: 'docs/production.md',
    Damage: 'docs/damage.md',
    AWS: 'docs/aws.md',
    Versions: 'docs/versioning.md',
  },
  Understand: {
    'Coming from': 'docs/coming-from.md',
    Architecture: 'ARCHITECTURE.md',
    Decisions: 'docs/decisions/README.md',
    Simulator: 'docs/simulator.md',
    Seeds: 'docs/seeds.md',
    Contributing: 'docs/contributing.md',
  },
}
