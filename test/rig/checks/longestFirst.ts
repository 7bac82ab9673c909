// Runs the projects with the longest test files first, so that no long file is left running alone at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const projects = ['crash', 'engines', 'workflow', 'wire', 'unit', 'whole'];

export class LongestFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    // Sorted by the durations of an earlier run if there was one, otherwise by file size.
    const sorted = await super.sort(specs);
    return sorted.toSorted((one, other) => projects.indexOf(one.project.name) - projects.indexOf(other.project.name));
  }
}
