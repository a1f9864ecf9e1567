//! `cargo xtask forms`.

use host_tests::error::Result;
use host_tests::forms_list;

#[derive(clap::Args)]
pub(crate) struct Forms {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Only this instruction's forms: ld.global.nc
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
}

impl Forms {
    pub(crate) fn run(self) -> Result<()> {
        let forms = forms_list::select(self.instruction.as_deref())?;
        if self.json {
            forms.iter().try_for_each(|form| crate::print(&(forms_list::json_line(form) + "\n")))
        } else {
            crate::print(&forms_list::table(&forms))
        }
    }
}
