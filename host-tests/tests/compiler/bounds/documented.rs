//! What rustdoc lists as gated, and what the calls call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use host_tests::tools::toolchain::DeviceToolchain;
use regex::Regex;
use serde_json::Value;

/// The functions and methods of the crate: `mapa`, `SharedPtr::read`.
#[derive(Default)]
pub(crate) struct Documented {
    /// The type that each gives, if it has a name.
    gives: BTreeMap<String, Option<String>>,
    /// Those that have a gate.
    pub(crate) gated: BTreeSet<String>,
}

impl Documented {
    /// Asks rustdoc.
    pub(crate) fn of_the_crate(toolchain: &DeviceToolchain) -> Documented {
        let target = toolchain.machine().target().join("bounds").join("doc");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-intrinsics/Cargo.toml");
        let cargo = toolchain.cargo().args(["rustdoc", "--quiet", "--lib", "--manifest-path"]).arg(manifest);
        let cargo = cargo.arg("--target-dir").arg(&target).env("RUSTC_BOOTSTRAP", "1");
        let cargo = cargo.args(["--", "-Zunstable-options", "--output-format=json"]);
        cargo.run().unwrap_or_else(|error| panic!("{error}"));
        let written = std::fs::read_to_string(target.join("doc/ptx_intrinsics.json")).expect("rustdoc wrote it");
        let written: Value = serde_json::from_str(&written).expect("rustdoc writes JSON");
        let index = written["index"].as_object().expect("rustdoc lists what there is");
        let mut documented = Documented::default();
        let mut methods = BTreeSet::new();
        for item in index.values().map(|item| &item["inner"]["impl"]).filter(|one| one.is_object()) {
            let of = name_of_type(&item["for"]);
            for method in item["items"].as_array().into_iter().flatten() {
                methods.insert(method.to_string());
                if let (Some(of), Value::Null, Some(method)) = (&of, &item["trait"], index.get(&method.to_string())) {
                    documented.add(method, Some(of), is_gated(&item["generics"]));
                }
            }
        }
        for (_, function) in index.iter().filter(|(id, _)| !methods.contains(*id)) {
            documented.add(function, None, false);
        }
        documented
    }

    fn add(&mut self, item: &Value, of: Option<&str>, gated: bool) {
        let (function, Some(name)) = (&item["inner"]["function"], item["name"].as_str()) else { return };
        if item["visibility"] != "public" || !function.is_object() {
            return;
        }
        let path = of.map_or(name.to_owned(), |of| format!("{of}::{name}"));
        if gated || is_gated(&function["generics"]) {
            self.gated.insert(path.clone());
        }
        let gives = &function["sig"]["output"];
        let gives = if gives["generic"] == "Self" { of.map(str::to_owned) } else { name_of_type(gives) };
        self.gives.insert(path, gives);
    }

    /// What is called first in an expression on values of these types, and on what that gives, and so on:
    /// `ld_global`, `LdGlobal::acquire`, `Ld::read` of `ld_global::<…>().acquire::<Gpu>().read(p)`.
    pub(crate) fn called(&self, rust: &str, of: Option<&str>) -> Vec<String> {
        static NAME: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?:^|\.)((?:[A-Z]\w*::)?[a-z]\w*)(?:::<[^()]*>)?\(").expect("the pattern is valid")
        });
        let mut of = of.map(str::to_owned);
        let mut called = Vec::new();
        for name in NAME.captures_iter(rust) {
            let path = of.take().map_or(name[1].to_owned(), |of| format!("{of}::{}", &name[1]));
            of = self.gives.get(&path).cloned().flatten();
            called.push(path);
        }
        called
    }
}

/// The traits that have gates: the one about targets, and the bounds of generic functions.
const GATED: [&str; 5] = ["OnTarget\"", "GlobalElement\"", "SharedElement\"", "LoadFrom\"", "StoreTo\""];

/// Whether generics mention a gate.
fn is_gated(generics: &Value) -> bool {
    let text = generics.to_string();
    GATED.iter().any(|bound| text.contains(bound))
}

/// The name of a type that has a path.
fn name_of_type(of: &Value) -> Option<String> {
    let path = &of["resolved_path"];
    // Older rustdocs call the path a name.
    let path = path["path"].as_str().or(path["name"].as_str())?;
    path.rsplit("::").next().map(str::to_owned)
}
