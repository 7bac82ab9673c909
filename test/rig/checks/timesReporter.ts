// Prints how long each project took, and the ten slowest tests.
import type { Reporter, TestModule } from 'vitest/node';

const slowest = 10;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`.padStart(9);

interface ProjectTime {
  files: number;
  /** The sum of the durations of the project's files. */
  ms: number;
  startedAt: number;
  endedAt: number;
}

export default class TimesReporter implements Reporter {
  private readonly projects = new Map<string, ProjectTime>();
  private readonly startedAt = new Map<string, number>();

  onTestModuleStart(module: TestModule): void {
    this.startedAt.set(module.id, performance.now());
  }

  onTestModuleEnd(module: TestModule): void {
    const endedAt = performance.now();
    const startedAt = this.startedAt.get(module.id) ?? endedAt;
    const before = this.projects.get(module.project.name);
    this.projects.set(module.project.name, {
      files: (before?.files ?? 0) + 1,
      ms: (before?.ms ?? 0) + endedAt - startedAt,
      startedAt: Math.min(before?.startedAt ?? startedAt, startedAt),
      endedAt,
    });
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    console.log('\nTime of each project, from its first file to its last, and of its files together:');
    for (const [name, { files, ms, startedAt, endedAt }] of this.projects)
      console.log(`${seconds(endedAt - startedAt)} ${seconds(ms)}  ${name}, ${files} files`);
    const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => ({ module, test })));
    const timed = tests.map(({ module, test }) => ({ module, test, ms: test.diagnostic()?.duration ?? 0 }));
    console.log('The slowest tests:');
    for (const { module, test, ms } of timed.toSorted((one, other) => other.ms - one.ms).slice(0, slowest))
      console.log(`${seconds(ms)}  ${module.relativeModuleId}: ${test.fullName}`);
  }
}
