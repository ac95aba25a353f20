import { describe, expect, it } from "vitest";
import { judgeCommand } from "../command-policy.ts";
import { parseRule } from "../rules.ts";
import { isStartingOption } from "./task-programs.ts";
import { STARTING_OPTIONS } from "./task-rows.ts";

const rules = (...words: readonly string[]) => words.map((one) => parseRule(`run_shell_command(${one})`));
const none = { allow: [], ask: [], deny: [] };

/** Judges a command that begins with the words of a grant, which end at the bar. */
function withGrant(line: string) {
  const [rule = "", more] = line.split(" | ");
  const all = { ...none, granted: rules(rule) };
  const place = { root: "/project" };
  return judgeCommand({ command: `${rule} ${more}`, mode: "default", rules: all, place }).verdict;
}

describe("an always for one program", () => {
  it.each(
    `pandoc a.md | --lua-filter=x.lua; pandoc a.md | -F x; pandoc a.md | -t x.lua; pandoc a.md | --pdf-engine=x
    nm a.o | --plugin x.so; objdump -d a.o | --plugin=x.so; ld a.o | -plugin x.so; clang-tidy a.c | -load x.so
    gfortran a.f | -fplugin=x.so; gcc-12 a.c | -fplugin=x.so; clang++-15 a.cc | -B x; c++ a.cc | -wrapper x
    rustc a.rs | -Clinker=x; rustc a.rs | -C linker=x; rustdoc a.rs | --runtool x; ghc a.hs | -F -pgmF x
    javac A.java | -J-javaagent:x.jar; javac A.java | -processor x; javac A.java | -Xplugin:x; javac A.java | @x
    ssh-keygen -l | -D ./x.so; ssh-add -l | -s ./x.so; ssh-copy-id host | -o ProxyCommand=x; mosh host | --ssh=x
    sshfs a:b c | -o ssh_command=x; socat - | EXEC:x; socat - | TCP:a:1!!SYSTEM:x; ncat a 1 | -c x; nc a 1 | -e x
    latexmk a.tex | -e x; latexmk a.tex | -pdflatex=x; pdflatex a.tex | -shell-esc; mongosh a | --eval x
    ansible-playbook a.yml | --ssh-common-args=-oProxyCommand=x; ansible-playbook a.yml | -M x; lldb a | -o x
    yt-dlp https://a.org | --downloader x; yt-dlp https://a.org | --config-locations x; duckdb a.db | .shell
    pylint a.py | --init-hook=x; mypy . | --python-executable x; pytest | --pastebin=all; npm docs a | --browser=x
    npm install | --git=x; rake test | -e x; mvn test | exec:exec; mvn test | -Dexec.executable=x
    gradle test | -I x; cmake -B build | -DCMAKE_C_COMPILER_LAUNCHER=x; cmake --build build | -- SHELL=x
    ctest | -S x; bazel test | --run_under=x; prove | --exec x; deno test | -A; deno test | --allow-run
    dotnet build | -p:PreBuildEvent=x; sshpass -p a | touch x; numactl -m 0 | touch x`.split(/;\s|\n\s*/),
  )("P21 P23 does not cover another one that an option starts: %s", (line) => {
    expect(withGrant(line)).toBe("ask");
  });

  it.each(["watch ls | ';touch x'", "watch ls | '$(touch x)'", "parallel echo | '`touch x`' ::: a"])(
    "P21 P23 does not cover what a shell starts that reads its words as one line: %s",
    (line) => {
      expect(withGrant(line)).toBe("ask");
    },
  );

  it.each(
    `pandoc a.md | -o b.html --standalone; gcc-12 | -O2 -Wall a.c -o a; clang++ | -std=c++20 -Iviewer a.cc
    rustc a.rs | -O --edition 2021; javac | -cp lib -d out A.java; ssh-keygen -l | -f id.pub; nm | -C a.o
    cmake -B build | -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON; cmake --build build | -j 4
    ctest | --test-dir build --output-on-failure; mvn | -q -DskipTests package; mvn test | -Dtest=ATest -pl core
    gradle | build -x test --info; dotnet test | --filter A -c Release; deno test | --allow-read=src
    rake | test TEST=a.rb; prove | -lr t; mypy | . --strict; pylint | src --disable=C0114; latexmk | -pdf a.tex
    ansible-playbook a.yml | --check --diff; socat | - TCP:a:1; watch | -n 1 ls; parallel | echo {} ::: a b
    bazel test | a/...; lldb a | --batch; duckdb a.db | 'select 1'; perf stat | ls; kak | a.c`.split(
      /;\s|\n\s*/,
    ),
  )("P22 covers %s", (line) => {
    expect(withGrant(line)).toBe("allow");
  });
});

describe("a rule that forbids", () => {
  it.each([
    ...[
      "xargs -i rm {}",
      "xargs --replace rm {}",
      "xargs -l rm",
      "xargs -e rm",
      "echo rm a | xargs -I % % b",
    ],
    ...[
      "echo 'rm a' | xargs -I{} sh -c '{}'",
      "nsenter --target 1 rm a",
      "numactl -m 0 rm a",
      "env -a b rm a",
    ],
    ...["ip netns exec b rm a", "caffeinate -i rm a", "sandbox-exec -p b rm a", "watchexec -e js rm a"],
    ...["gxargs grm", "gtimeout 1 rm a", "genv grm a", "fish -C 'rm a'", "setlock a rm b", "runcon b rm a"],
  ])("P23 meets what %s starts", (command) => {
    const verdict = judgeCommand({ command, mode: "yolo", rules: { ...none, deny: rules("rm") } });
    expect(verdict.verdict).not.toBe("allow");
  });

  it.each([
    "xargs -I{} git show {}",
    "xargs -n 1 grep rm",
    "gcc rm.c",
    "watch -n 1 git status",
    "caffeinate -i ls",
  ])("P22 has nothing to say about %s", (command) => {
    const verdict = judgeCommand({
      command,
      mode: "yolo",
      rules: { ...none, deny: rules("rm", "git push") },
    });
    expect(verdict.verdict).toBe("allow");
  });
});

describe("options that start another program", () => {
  it.each(STARTING_OPTIONS)("P21 P23 are known by their names: %s, such as %s", (option, example) => {
    expect(option.test(example)).toBe(true);
    expect(isStartingOption(example)).toBe(true);
    expect(isStartingOption(example.replace(/^-+[\w-]+/, "--verbose"))).toBe(false);
  });
});
